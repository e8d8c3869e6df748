"""A terminal of a given size in which a program runs, and its contents: screen.run(columns,
rows, command) returns a Screen."""
import fcntl
import os
import pty
import re
import struct
import termios


class Screen:
    """Lines that scrolled away, current lines, and every state of them after a piece of output."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.above, self.lines = [], [""]
        self.row = self.column = 0
        self.scrolled = 0

    def _put(self, character):
        if self.column == self.columns:  # a full line wraps at the next character
            self._down()
            self.column = 0
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[:self.column] + character + line[self.column + 1:]
        self.column += 1

    def _down(self):
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append("")
        if len(self.lines) > self.rows:
            self.above.append(self.lines.pop(0))
            self.row -= 1

    def _escape(self, number, letter):
        if letter == "A":
            self.row = max(0, self.row - int(number or 1))
        elif letter == "H":
            self.row = self.column = 0
        elif letter == "K":
            self.lines[self.row] = self.lines[self.row][:self.column]
        elif letter == "J" and number == "2":
            self.lines = [""] * (self.row + 1)
        elif letter == "J":
            self.lines[self.row] = self.lines[self.row][:self.column]
            del self.lines[self.row + 1:]
        elif letter != "m":
            raise AssertionError(f"an escape sequence that nobody expects: {number}{letter}")

    def write(self, text):
        for part in re.finditer(r"\x1b\[([0-9;]*)([A-Za-z])|(.)", text, re.S):
            if part[2]:
                self._escape(part[1], part[2])
            elif part[3] == "\n":
                self._down()
            elif part[3] == "\r":
                self.column = 0
            else:
                self._put(part[3])

    def all(self):
        return self.above + self.lines


def run(columns, rows, command, see=None, **environment):
    """Runs `command` in it. see(screen) is called after each piece of output. Returns the
    screen, all output, and the status."""
    pid, end = pty.fork()
    if pid == 0:
        fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.environ.update(environment)
        os.execv(command[0], command)
    screen, text, rest = Screen(columns, rows), "", b""
    while True:
        try:
            piece = os.read(end, 65536)
        except OSError:
            break
        if not piece:
            break
        piece = rest + piece
        whole = piece.decode(errors="ignore") if len(piece) < 4 else None
        cut = len(piece)
        for back in range(1, 4):  # a character or a sequence may be cut
            if piece[-back:].startswith(b"\x1b") or piece[-back] >= 0xC0:
                cut = len(piece) - back
                break
        whole, rest = piece[:cut].decode(), piece[cut:]
        screen.write(whole)
        text += whole
        if see:
            see(screen)
    return screen, text, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
