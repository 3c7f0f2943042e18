#!/usr/bin/env python3
"""test_replay.py MONOCLE: monocle tune --replay: its figures against independent computations, and its errors"""
import gzip
import json
import math
import os
import subprocess
import sys

sys.path.append(sys.path[0] + "/../support")
from checks import TESTS, Checks, at, programs

BINARY, = programs(1)
HERE = os.path.join(TESTS, "tune")
SEARCHES = ["auto", "random"]


def tune(*args):
    done = subprocess.run([BINARY, "tune", *args], cwd=at(), capture_output=True, text=True, timeout=250)
    return done.returncode, done.stdout, done.stderr


def make_table(c):
    subprocess.run([sys.executable, os.path.join(HERE, "make_table.py"), at("table.json")], check=True)


def nearness():
    """Returns optimum / time of each configuration of the table; 0: it failed."""
    with open(at("table.json"), encoding="utf-8") as file:
        results = json.load(file)["results"]
    times = [r["measurements"][0]["value"] if r["invalidity"] == "correct" else None for r in results]
    best = min(t for t in times if t)
    return [best / t if t else 0 for t in times]


def replay(c, *args):
    code, out, err = tune("--replay", "table.json", "--json", *args)
    c.check((code, err) == (0, ""), args, code, err)
    found = json.loads(out)
    return found, {s["search"]: s["after"] for s in found["searches"]}


def full(c):
    exact = nearness()
    for budget in (1, 3, 100, len(exact), 2 * len(exact)):
        found, searches = replay(c, "--search", "random", "--seeds", "3", "--budget", str(budget))
        c.check(found["configurations"] == len(exact) and found["failed"] == exact.count(0), found)
        c.check((found["budget"], found["seeds"], found["parameters"]) == (budget, 3, 7), found)
        for mark, after in enumerate(searches["random"]):
            tried = max(budget >> (2 - mark), 1)
            c.check(after["configurations"] == tried, after)
            c.check(tried < len(exact) or abs(after["p10"] - 1) < 1e-5, "all configurations give the optimum", after)


def random(c):
    """The rank of the best of n random configurations has a known distribution."""
    exact = sorted(nearness(), reverse=True)
    seeds, margin = 1000, 0.06  # the distance of the two distributions is below this with a probability of 0.998
    searches = replay(c, "--search", "random", "--seeds", str(seeds), "--budget", "80")[1]
    for after in searches["random"]:
        n, below, at_most = after["configurations"], {}, 1.0
        for rank in range(len(exact) - n + 1):  # at_most: probability that none of the n is among the first `rank`
            below[rank] = at_most
            at_most *= max(0, 1 - n / (len(exact) - rank))
        for quantile, share in (("p10", 0.1), ("median", 0.5), ("p90", 0.9)):
            low, high = (exact[next((r for r in below if below[r] <= s), len(below) - 1)]
                         for s in (max(0, share - margin), min(1, share + margin)))
            c.check(low - 1e-5 <= after[quantile] <= high + 1e-5, n, quantile, after[quantile], "not in", low, high)


def goal(c):
    """The goal for auto: after 80 configurations, 50 % of the seeds reach 0.95 of the optimum, and 90 % reach 0.85."""
    found, searches = replay(c)
    c.check((found["budget"], found["seeds"]) == (80, 50), found)
    last = searches["auto"][2]
    c.check(last["configurations"] == 80 and last["median"] >= 0.95 and last["p10"] >= 0.85, last)
    c.check(last["median"] > searches["random"][1]["median"], "random is as good", searches)
    runs = [replay(c, "--search", "auto", "--seeds", "3")[1]["auto"] for _ in range(2)]
    c.check(runs[0] == runs[1], "another run differs")


def ranks(c):
    """The search uses the order of the times, not their sizes: with the cubes of all times, it tries the same."""
    with open(at("table.json"), encoding="utf-8") as file:
        table = json.load(file)
    for row in table["results"]:
        if row["invalidity"] == "correct":
            row["measurements"][0]["value"] **= 3
    found = replay(c, "--search", "auto", "--seeds", "1")[1]["auto"]
    out = tune("--replay", write("cubes.json", json.dumps(table)), "--json", "--search", "auto", "--seeds", "1")[1]
    for one, other in zip(found, json.loads(out)["searches"][0]["after"]):
        c.check(abs(one["median"] ** 3 - other["median"]) < 1e-4, one, other)


def measured(c):
    """The goal for auto on tables of real passes, measured on devices: tests/tune/tables."""
    names = sorted(os.listdir(os.path.join(HERE, "tables")))
    c.check(len(names) >= 4, names)
    for name in names:
        code, out, err = tune("--replay", os.path.join(HERE, "tables", name), "--json", "--search", "auto")
        c.check((code, err) == (0, ""), name, code, err)
        for after in json.loads(out)["searches"][0]["after"][1:]:
            c.check(after["median"] >= 0.95 and after["p10"] >= 0.85, name, after)



def others(c):
    """The same results as Kernel Tuner and KTT write them, and packed, give the same figures."""
    with open(at("table.json"), encoding="utf-8") as file:
        results = json.load(file)["results"]
    keys = list(results[0]["configuration"])
    times = [r["measurements"][0]["value"] if r["invalidity"] == "correct" else None for r in results]
    wrong = {"compile": "CompilationFailedConfig", "runtime": "RuntimeFailedConfig", "constraints": "InvalidConfig"}
    cache = {",".join(str(v) for v in r["configuration"].values()):
             {**r["configuration"], "time": t or wrong.get(r["invalidity"], 1e20), "times": [1, 2], "compile_time": 3}
             for r, t in zip(results, times)}
    kernel_tuner = {"device_name": "d", "tune_params_keys": keys, "tune_params": {}, "cache": cache}
    ktt = {"Metadata": {"TimeUnit": "Microseconds"}, "Results": [
        {"Configuration": [{"Name": k, "Value": v} for k, v in r["configuration"].items()],
         "Status": "Ok" if t else "ComputationFailed", "TotalDuration": t and t * 1000}
        for r, t in zip(results, times)]}
    want = replay(c, "--seeds", "2", "--search", "random")[0]
    for name, content in (("cache.json", kernel_tuner), ("ktt.json", ktt)):
        write(name, json.dumps(content))
        with open(at(name + ".gz"), "wb") as file:
            file.write(gzip.compress(json.dumps(content).encode()))
        for path in (name, name + ".gz"):
            code, out, err = tune("--replay", path, "--json", "--seeds", "2", "--search", "random")
            c.check((code, err) == (0, "") and json.loads(out) == {**want, "table": path}, path, code, out, err)


def output(c):
    code, out, err = tune("--replay", "table.json", "--seeds", "2", "--budget", "12")
    lines = out.splitlines()
    c.check((code, err) == (0, ""), code, err)
    c.check(lines[0].startswith("2079 configurations of 7 parameters"), lines[0])
    c.check([line.split()[0] for line in lines[-len(SEARCHES):]] == SEARCHES, out)
    c.check([line.split() for line in lines if line.startswith("after")] == [["after", "3", "6", "12"]], out)
    c.check(list(replay(c, "--seeds", "1")[1]) == SEARCHES, "both")
    c.check(list(replay(c, "--seeds", "1", "--search", "random")[1]) == ["random"], "one")


def names(c):
    """The path of a table need not be UTF-8."""
    os.symlink("table.json", at("caf\udce9.json"))
    code, out, err = tune("--replay", "caf\udce9.json", "--json", "--search", "random", "--seeds", "1", "--budget", "1")
    c.check((code, err) == (0, "") and json.loads(out)["table"] == "caf\ufffd.json", code, out, err)


def errors(c):
    def refused(want, text, *args):
        code, out, err = tune(*args)
        c.check(code == want and not out and err.count("\n") == 1 and text in err, args, code, out, err)

    refused(2, "name a chain to tune, such as -f blur=2; usage: monocle tune -f CHAIN")
    refused(2, "--search is 'quick'", "--replay", "table.json", "--search", "quick")
    refused(2, "--budget", "--replay", "table.json", "--budget", "0")
    refused(2, "--replay does not apply to SPEC.json", "--replay", "table.json", "more")
    refused(3, "cannot read none.json: No such file", "--replay", "none.json")
    refused(3, "there is no array 'results'", "--replay", write("empty.json", "{}"))
    with open(at("short.gz"), "wb") as file:
        file.write(gzip.compress(b"{}")[:-6] + bytes(6))
    refused(3, "cannot read short.gz: ", "--replay", "short.gz")
    row = {"configuration": {"x": 1}, "times": {}, "invalidity": "compile", "correctness": 1}
    refused(3, "no result is correct", "--replay", write("failed.json", json.dumps({"results": [row]})))


def write(name, text):
    with open(at(name), "w", encoding="utf-8") as file:
        file.write(text)
    return name


sys.exit(Checks().run(full, random, goal, ranks, measured, others, output, names, errors, before=make_table))
