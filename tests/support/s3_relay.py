"""A relay between a client of S3 and a server that spoils what passes: s3_relay.py HOST:PORT
FOLDER.

Writes its port to FOLDER/port, and for each request a line to FOLDER/load, the number of requests
in progress. For each request it takes a word from the front of FOLDER/plan; without one the request
passes:

  ok       the request and its answer pass
  500 503  this answer, without asking the server
  refuse   the connection ends before the request was read
  slow     everything passes, after a quarter of a second and in small pieces
  cut      the server is asked, and half of its answer passes
  lost     the server is asked, and nothing of its answer passes
  stall    the server is not asked, and no answer comes
  flip     the server is asked, and one byte of the body of its answer to a GET is changed
  empty    the server is asked, and its answer to a GET says 200 and has no body
  short    the server is asked, and its answer to a GET lacks the second half of the body, and its
           length says so
  lies     from now on the first good answer to a GET of each object, and of each range of it, is
           spoilt by one of these three; the word stays
  crawl    from now on everything takes 20 s; the word stays
  storm    from now on one of these at random, half of the time (a fixed seed); the word stays
"""
import os
import random
import socket
import sys
import threading
import time

host, port = sys.argv[1].rsplit(":", 1)
folder = sys.argv[2]
lock = threading.Lock()
load = 0
dice = random.Random(20261123)
told = set()  # GETs that were answered once


def next_word():
    plan = os.path.join(folder, "plan")
    with lock:
        try:
            with open(plan) as file:
                words = file.read().split()
        except FileNotFoundError:
            return "ok"
        if not words:
            return "ok"
        if words[0] in ("lies", "crawl"):
            return words[0]
        if words[0] == "storm":
            return dice.choice(["500", "503", "refuse", "slow", "cut", "lost"]) if dice.random() < 0.5 else "ok"
        with open(plan + ".new", "w") as file:
            file.write(" ".join(words[1:]))
        os.rename(plan + ".new", plan)
        return words[0]


def read_request(client):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = client.recv(65536)
        if not piece:
            return None
        data += piece
    head, body = data.split(b"\r\n\r\n", 1)
    size = 0
    for line in head.split(b"\r\n")[1:]:
        name, value = line.split(b":", 1)
        if name.lower() == b"content-length":
            size = int(value)
    while len(body) < size:
        piece = client.recv(1 << 20)
        if not piece:
            return None
        body += piece
    return head + b"\r\nConnection: close\r\n\r\n" + body


def ask(request):
    with socket.create_connection((host, int(port))) as server:
        server.sendall(request)
        answer = b""
        while True:
            piece = server.recv(1 << 20)
            if not piece:
                return answer
            answer += piece


def spoil(word, request, answer):
    """Returns the answer to a GET after a change on its way; a list of names has no checksum,
    and is only emptied."""
    head, mark, body = answer.partition(b"\r\n\r\n")
    if not request.startswith(b"GET") or not body or head.split(b" ")[1][:1] != b"2":
        return answer
    is_list = b"list-type=2" in request.split(b"\r\n", 1)[0]
    if word == "flip":
        if is_list:
            return answer
        at = dice.randrange(len(body))
        return head + mark + body[:at] + bytes([body[at] ^ (1 << dice.randrange(8))]) + body[at + 1 :]
    kept = b"" if word == "empty" else body[: len(body) // 2]
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith((b"content-length:", b"content-range:"))]
    lines[0] = b"HTTP/1.1 200 OK"
    return b"\r\n".join(lines + [b"Content-Length: %d" % len(kept)]) + mark + kept


def lie(request, answer):
    lines = request.split(b"\r\n")
    key = (lines[0], *(line.lower() for line in lines if line.lower().startswith(b"range:")))
    with lock:
        if key in told or not answer.partition(b"\r\n\r\n")[2]:
            return answer
        told.add(key)
        word = dice.choice(["flip", "empty", "short"])
        with open(os.path.join(folder, "lies"), "a") as file:
            file.write(f"{word} {lines[0].decode()}\n")
    return spoil(word, request, answer)


def serve(client):
    with client:
        word = next_word()
        if word == "refuse":
            return
        request = read_request(client)
        if request is None:
            return
        if word in ("500", "503"):
            code = "InternalError" if word == "500" else "SlowDown"
            body = f"<Error><Code>{code}</Code><Message>injected</Message></Error>".encode()
            if request.startswith(b"HEAD"):
                body = b""
            client.sendall(f"HTTP/1.1 {word} Injected\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
            return
        if word == "stall":
            while client.recv(65536):
                pass
            return
        if word == "slow":
            time.sleep(0.25)
        if word == "crawl":
            time.sleep(20)
        answer = ask(request)
        if word == "lies":
            answer = lie(request, answer)
        if word in ("flip", "empty", "short"):
            answer = spoil(word, request, answer)
        if word == "cut":
            answer = answer[: len(answer) // 2]
        if word == "lost":
            return
        step = max(len(answer) // 8, 1) if word == "slow" else len(answer) or 1
        for at in range(0, len(answer), step):
            client.sendall(answer[at : at + step])
            if word == "slow":
                time.sleep(0.02)


def note_load(change):
    global load
    with lock:
        load += change
        if change > 0:
            with open(os.path.join(folder, "load"), "a") as file:
                file.write(f"{load}\n")


def guard(client):
    note_load(1)
    try:
        serve(client)
    except OSError:
        pass
    finally:
        note_load(-1)


listener = socket.create_server(("127.0.0.1", 0), backlog=128)
with open(os.path.join(folder, "port.new"), "w") as file:
    file.write(str(listener.getsockname()[1]))
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
while True:
    threading.Thread(target=guard, args=(listener.accept()[0],), daemon=True).start()
