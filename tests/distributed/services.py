"""What a cluster offers: a Redis for the queue, a Redis Cluster for rounds, and SeaweedFS for what lasts. All real."""
import json
import subprocess

from hosts import Failure, wait_for

QUEUE_PORT, CLUSTER_PORT, REPLICA_PORT = 6379, 7000, 7001
MASTER_PORT, VOLUME_PORT, FILER_PORT, S3_PORT = 9333, 8080, 8888, 8333
ACCESS = {"AWS_ACCESS_KEY_ID": "testkey", "AWS_SECRET_ACCESS_KEY": "test/secret+key"}
PASSWORD = "of-the-queue"


def redis_answers(host, port, *words):
    """What the Redis of a host says; empty when it says nothing."""
    result = subprocess.run(host.words(["timeout", "5", "redis-cli", "-h", host.address, "-p", port, "-a", PASSWORD, "--no-auth-warning",
                                        *words]), capture_output=True, text=True)
    return result.stdout.strip() if result.returncode == 0 else ""


class Queue:
    """One Redis with a password."""

    def __init__(self, host):
        self.host, self.url = host, f"redis://{host.address}:{QUEUE_PORT}"
        self.process = host.start("queue", "redis-server", "--bind", host.address, "--port", QUEUE_PORT, "--requirepass", PASSWORD,
                                  "--save", "", "--dir", "/mnt")
        wait_for("Redis for the queue", lambda: redis_answers(host, QUEUE_PORT, "ping") == "PONG")


class Cluster:
    """A Redis Cluster: a master on each host, its replica on the next one."""

    def __init__(self, hosts):
        self.hosts, self.process = hosts, {}
        for host in hosts:
            for port in (CLUSTER_PORT, REPLICA_PORT):
                folder = host.folder / f"cluster-{port}"
                folder.mkdir()
                self.process[host.number, port] = host.start(
                    f"cluster-{port}", "redis-server", "--bind", host.address, "--port", port, "--cluster-enabled", "yes",
                    "--cluster-node-timeout", "1000", "--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0",
                    "--cluster-announce-ip", host.address, "--requirepass", PASSWORD,
                    "--masterauth", PASSWORD, "--maxmemory-policy", "noeviction", "--save", "", "--appendonly", "no",
                    "--dir", f"/mnt/cluster-{port}")
        nodes = [f"{h.address}:{p}" for p in (CLUSTER_PORT, REPLICA_PORT) for h in hosts]
        for host in hosts:
            for port in (CLUSTER_PORT, REPLICA_PORT):
                wait_for(f"Redis on {host.name}", lambda h=host, p=port: redis_answers(h, p, "ping") == "PONG")
        hosts[0].run("redis-cli", "-a", PASSWORD, "--no-auth-warning", "--cluster", "create", *nodes, "--cluster-replicas", "1", "--cluster-yes")
        for host in hosts:
            for port in (CLUSTER_PORT, REPLICA_PORT):
                wait_for("whole cluster", lambda h=host, p=port: self.is_whole(h, p))
        self.nodes = ",".join(f"{h.address}:{CLUSTER_PORT}" for h in hosts)

    def is_whole(self, host, port):
        """It sees all nodes, and a replica has what its master has: one that never had it takes nobody's place."""
        cluster, role = redis_answers(host, port, "cluster", "info"), redis_answers(host, port, "info", "replication")
        knows_all = "cluster_state:ok" in cluster and f"cluster_known_nodes:{len(self.process)}" in cluster
        return knows_all and "role:" in role and ("role:slave" not in role or "master_link_status:up" in role)

    def kill_master(self, host):
        """Kills a master on that host; its replica has to take its place."""
        for port in (CLUSTER_PORT, REPLICA_PORT):
            if redis_answers(host, port, "role").startswith("master"):
                self.process[host.number, port].kill()
                return
        raise Failure(f"there is no master on {host.name}")


class Seaweed:
    """SeaweedFS: master, filer and S3 on the first host, volumes on each of them; every file lies on two."""

    def __init__(self, hosts, weed):
        first = hosts[0]
        self.hosts, self.weed = hosts, weed
        self.endpoint = f"http://{first.address}:{S3_PORT}"
        (first.folder / "s3.json").write_text(json.dumps({"identities": [{
            "name": "test", "actions": ["Admin", "Read", "Write", "List"],
            "credentials": [{"accessKey": ACCESS["AWS_ACCESS_KEY_ID"], "secretKey": ACCESS["AWS_SECRET_ACCESS_KEY"]}]}]}))
        for folder in ("master", "filer"):
            (first.folder / folder).mkdir()
        first.start("weed-master", weed, "-logdir=/mnt/master", "master", f"-ip={first.address}", f"-port={MASTER_PORT}", "-mdir=/mnt/master",
                    "-defaultReplication=001", "-volumeSizeLimitMB=512")
        self.volume = {}
        for host in hosts:
            (host.folder / "volume").mkdir()
            self.volume[host.number] = host.start(
                "weed-volume", weed, "-logdir=/mnt/volume", "volume", f"-mserver={first.address}:{MASTER_PORT}", f"-ip={host.address}",
                f"-port={VOLUME_PORT}", "-dir=/mnt/volume", "-max=40")
        first.start("weed-filer", weed, "-logdir=/mnt/filer", "filer", f"-master={first.address}:{MASTER_PORT}", f"-ip={first.address}",
                    f"-port={FILER_PORT}", "-defaultStoreDir=/mnt/filer", "-defaultReplicaPlacement=001", "-s3", f"-s3.port={S3_PORT}",
                    "-s3.port.iceberg=0", "-s3.port.lance=0", "-s3.config=/mnt/s3.json")
        wait_for("bucket", self.make_bucket, 90)

    def make_bucket(self):
        result = subprocess.run(
            self.hosts[0].words(["timeout", "20", self.weed, "-logdir=/mnt/filer", "shell", f"-master={self.hosts[0].address}:{MASTER_PORT}",
                                 f"-filer={self.hosts[0].address}:{FILER_PORT}"]),
            input="s3.bucket.create -name graphmill\n", capture_output=True, text=True)
        return "create bucket" in result.stdout or "created bucket" in result.stdout

    def kill_volume(self, host):
        self.volume[host.number].kill()
