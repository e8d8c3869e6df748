"""The contents of a store, piece by piece, read without the store's code: files, objects of a
bucket, values of a Redis Cluster.

Each has a `path`, which is its name in a store that is a folder, and read(), write(data), delete(),
exists().
"""

import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request

from .redis_client import Redis, RedisError


class FolderFile:
    def __init__(self, store, path):
        self.path, self.full = path, os.path.join(store, path)

    def read(self):
        with open(self.full, "rb") as file:
            return file.read()

    def write(self, data):
        os.chmod(self.full, 0o644)
        with open(self.full, "wb") as file:
            file.write(data)

    def delete(self):
        os.unlink(self.full)

    def exists(self):
        return os.path.exists(self.full)

    def size(self):
        return os.path.getsize(self.full)


def of_folder(store):
    """Returns all data that must last."""
    found = []
    for path, _, files in os.walk(store):
        relative = os.path.relpath(path, store)
        if relative.split("/")[0] in ("tmp", "logs"):
            continue
        found += [os.path.normpath(os.path.join(relative, name)) for name in files]
    return [FolderFile(store, path) for path in sorted(found)]


def folder_path(name):
    """Returns the path in a folder of KEY!record, KEY!files/7/0, KEY!chunk/1/2, KEY!artifact and
    !switch/NAME!text; None for other keys."""
    if name.startswith("!switch/"):
        return name[1:].removesuffix("!text")
    key, mark, what = name.partition("!")
    if not mark or not key or what in ("note", "text"):
        return None
    kind = what.split("/")[0]
    if kind not in ("record", "artifact", "files", "file", "chunk"):
        return None
    return f"{key}.{kind}"


class Objects:
    """A bucket, through the file interface of SeaweedFS: the files of its filer at `root`,
    http://host:port/buckets/NAME."""

    def __init__(self, root):
        self._host, self._top = root.split("/buckets/")[0], "/buckets/" + root.split("/buckets/")[1]

    def ask(self, path, **more):
        request = urllib.request.Request(self._host + urllib.parse.quote(path), **more)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def names(self, folder):
        """Lists a folder below the bucket: (name, whether it is a folder itself)."""
        found, last = [], ""
        while True:
            page = urllib.request.Request(f"{self._host}{urllib.parse.quote(self._top + '/' + folder)}/?limit=1000&lastFileName={urllib.parse.quote(last)}",
                                          headers={"Accept": "application/json"})
            try:
                with urllib.request.urlopen(page, timeout=30) as answer:
                    entries = json.loads(answer.read())["Entries"] or []
            except urllib.error.HTTPError:
                return found
            found += [(entry["FullPath"].rsplit("/", 1)[1], bool(entry["Mode"] >> 31)) for entry in entries]
            if len(entries) < 1000:
                return found
            last = found[-1][0]

    def walk(self, folder):
        for name, is_folder in self.names(folder):
            if is_folder:
                yield from self.walk(f"{folder}/{name}")
            else:
                yield f"{folder}/{name}"

    def of_store(self, prefix):
        found = []
        for name in self.walk(prefix):
            path = folder_path(name.removeprefix(prefix + "/"))
            if path:
                found.append(Object(self, self._top + "/" + name, path))
        return sorted(found, key=lambda one: one.name)


class Object:
    def __init__(self, objects, name, path):
        self._objects, self.name, self.path = objects, name, path

    def read(self):
        return self._objects.ask(self.name)

    def write(self, data):
        self._objects.ask(self.name, data=data, method="PUT", headers={"Content-Type": "application/octet-stream"})

    def delete(self):
        self._objects.ask(self.name, method="DELETE")

    def exists(self):
        try:
            self._objects.ask(self.name, method="HEAD")
        except urllib.error.HTTPError:
            return False
        return True


class Masters:
    """The masters of a Redis Cluster on loopback ports; the one that has the key answers."""

    def __init__(self, ports):
        self._ports = ports

    def each(self, *words):
        answers = []
        for port in self._ports:
            with Redis(("127.0.0.1", port)) as redis:
                answers.append(redis(*words))
        return answers

    def of_key(self, *words):
        for port in self._ports:
            with Redis(("127.0.0.1", port)) as redis:
                try:
                    return redis(*words)
                except RedisError as error:
                    if not str(error).startswith("MOVED"):
                        raise
        raise RedisError(f"no master has {words[1]}")

    def keys(self, pattern):
        return sorted(key for keys in self.each("KEYS", pattern) for key in keys)

    def of_store(self, prefix):
        found = []
        for key in self.keys(prefix + "{*"):
            name = key.decode().split("}", 1)[1]
            if name == "!refs":
                fields = self.of_key("HKEYS", key)
                found += [Value(self, key, f"switch/{field.decode()}", field) for field in sorted(fields)]
            elif folder_path(name):
                found.append(Value(self, key, folder_path(name)))
        return sorted(found, key=lambda one: (one.path, one.key))


class Value:
    """A value, or a field of a hash."""

    def __init__(self, masters, key, path, field=None):
        self._masters, self.key, self.path, self._field = masters, key, path, field

    def _words(self, command):
        return ("H" + command, self.key, self._field) if self._field else (command, self.key)

    def read(self):
        return self._masters.of_key(*self._words("GET")) or b""

    def write(self, data):
        self._masters.of_key(*self._words("SET"), data)

    def delete(self):
        self._masters.of_key(*self._words("DEL"))

    def exists(self):
        return bool(self._masters.of_key(*self._words("EXISTS")))


def newest_number(names):
    """Returns the number in the newest of names like 0000000012.record or 0000000012!record; -1
    without any."""
    numbers = [int(match[1]) for match in (re.fullmatch(r"(\d+)[.!]record", name) for name in names) if match]
    return max(numbers, default=-1)
