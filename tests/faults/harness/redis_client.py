"""The part of a Redis client that is needed to break a queue."""

import socket


class RedisError(Exception):
    """An error in an answer of Redis."""


class Redis:
    """One connection, to a Unix socket or to (host, port). Answers are bytes, int, None, list."""

    def __init__(self, path, seconds=10):
        self._socket = socket.socket(socket.AF_UNIX if isinstance(path, str) else socket.AF_INET, socket.SOCK_STREAM)
        self._socket.settimeout(seconds)
        self._socket.connect(path)
        self._file = self._socket.makefile("rb")

    def close(self):
        self._file.close()
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __call__(self, *words):
        data = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        parts = [b"*%d\r\n" % len(data)]
        parts += [b"$%d\r\n%s\r\n" % (len(word), word) for word in data]
        self._socket.sendall(b"".join(parts))
        return self._answer()

    def _answer(self):
        line = self._file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("Redis closed the connection")
        kind, text = line[:1], line[1:-2]
        if kind == b"+":
            return text
        if kind == b"-":
            raise RedisError(text.decode(errors="replace"))
        if kind == b":":
            return int(text)
        size = int(text)
        if size < 0:
            return None
        if kind == b"$":
            return self._file.read(size + 2)[:-2]
        return [self._answer() for _ in range(size)]
