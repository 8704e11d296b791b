"""What must hold of a run of a program's original, of its distributed form, and of that without broadcasts."""

import re
from fnmatch import fnmatch
from collections import namedtuple

PROGRESS = re.compile(r"\s*\d+/(\d+|Unknown) \[")
Verdict = namedtuple("Verdict", ["assertion", "holds", "detail"])  # `holds` is None if the assertion doesn't apply


def judge_original(program, run):
    """The original does on one process what `run.json` says."""
    [rank] = run.ranks
    problems = failures(run.ranks)
    if not problems:
        if rank.report["steps"] != program.steps:
            problems.append(f"{rank.report['steps']} steps, run.json says {program.steps}")
        if lines(rank) != program.prints:
            problems.append(f"{lines(rank)} lines, run.json says {program.prints}")
        problems += program.unexpected(run.changed)
        problems += [f"writes {path}" for path in elsewhere(rank)]
    return verdict("original", problems)


def judge_ranks(run):
    """Every process ends well, and was a rank of one run of Horovod."""
    ranks = run.ranks
    problems = failures(ranks)
    if problems:
        problems += written_by_others(run)
    else:
        sizes = [rank.report["size"] for rank in ranks]
        if any(size != len(ranks) for size in sizes):
            problems.append(f"Horovod's size is {sizes} at the end: it is not initialised" if None in sizes else f"sizes {sizes}")
    return verdict("ranks", problems)


def judge_weights(ranks):
    """All ranks end with the same weights and the same state of the optimizers, to the bit."""
    problems = differences(ranks)
    first = ranks[0].report
    if not first["weights"]:
        problems.append("nothing was trained")
    problems += [f"{name} is not finite" for name, _, finite in first["weights"] if not finite]
    others = sum(differ([rank.report["others"] for rank in ranks]))
    counted = f"{len(first['weights'])}+{len(first['optimizer'])}"
    return verdict("weights", problems, counted + (f" ({others} others differ)" if others else ""))


def judge_prints(original, ranks):
    """The first rank prints as many lines as the original; the others are silent."""
    problems = []
    if lines(ranks[0]) != lines(original):
        problems.append(f"rank 0 prints {lines(ranks[0])} lines, the original {lines(original)}")
    for number, rank in list(enumerate(ranks))[1:]:
        if rank.stdout.strip():
            problems.append(f"rank {number} prints {lines(rank)} lines, the first: {rank.stdout.strip().splitlines()[0][:100]}")
    return verdict("prints", problems, str(lines(original)))


def judge_files(program, run):
    """The first rank writes the original's files; the others write none."""
    problems = program.unexpected(run.changed)
    problems += [f"rank 0 writes {path}" for path in elsewhere(run.ranks[0])]
    own = [path for rank in run.ranks for path in rank.written if fnmatch(path, program.own_files)]
    others = [problem for problem in written_by_others(run) if problem.rpartition(" ")[2] not in own]
    return verdict("files", problems + others, str(len(run.changed)))


def written_by_others(run):
    """What other ranks than the first wrote. Where several write one file, that is often why one of them failed."""
    return [f"rank {number} writes {path}" for number, rank in list(enumerate(run.ranks))[1:] for path in rank.written]


def elsewhere(rank):
    """The files that a rank wrote outside of the program's folder."""
    return [path for path in rank.written if path.startswith(("/", "~"))]


def judge_share(program, original, ranks):
    """Each rank makes its share of the original's steps: one more or less per epoch, of which there are few."""
    steps = [rank.report["steps"] for rank in ranks]
    whole = original.report["steps"]
    detail = f"{'/'.join(map(str, steps))} of {whole}"
    if len(set(steps)) > 1:
        return verdict("share", [f"the ranks make different numbers of steps: {detail}"])
    if not program.sharded:
        return Verdict("share", None, f"{detail}: {program.why}")
    share = whole / len(ranks)
    if steps[0] < whole and abs(steps[0] - share) <= max(1, whole / 5):
        return verdict("share", [], detail)
    return verdict("share", [f"{detail} steps on each rank are not its share"])


def judge_control(ranks):
    """Without broadcasts the ranks end with different weights: the comparison is able to fail."""
    problems = failures(ranks)
    if not problems and not differences(ranks):
        problems.append("the weights are the same without broadcasts: that they are the same shows nothing")
    return verdict("control", problems)


def verdict(assertion, problems, detail=""):
    return Verdict(assertion, not problems, "; ".join(problems[:6]) if problems else detail)


def failures(ranks):
    """What is wrong with how processes ended: the cause first."""
    found = []
    for number, rank in enumerate(ranks):
        if rank.status != 0:
            name = f"rank {number}: " if len(ranks) > 1 else ""
            how = rank.status if isinstance(rank.status, str) else f"status {rank.status}"
            found.append((rank.status in ("stopped", "timeout"), f"{name}{how}{indented(rank.stderr)}"))
    return [text for _, text in sorted(found)]


def indented(stderr, count=14):
    """The end of what a process said, without TensorFlow's log."""
    said = [line for line in stderr.splitlines() if line.strip() and "tensorflow/c" not in line]
    return "".join(f"\n        | {line[:160]}" for line in said[-count:])


def differences(ranks):
    problems = []
    for part in ("weights", "optimizer"):
        lists = [rank.report[part] for rank in ranks]
        if len({len(entries) for entries in lists}) > 1:
            problems.append(f"{part}: the ranks have {' and '.join(str(len(entries)) for entries in lists)} variables")
        elif differing := [entries[0] for entries, other in zip(zip(*lists), differ(lists)) if other]:
            problems.append(f"{part}: {len(differing)} of {len(lists[0])} differ, the first is {differing[0][0]}")
    return problems


def differ(lists):
    """For each variable whether it differs between ranks (by what it holds; names count the objects of a process)."""
    return [len({entry[1] for entry in entries}) > 1 for entries in zip(*lists)]


def lines(rank):
    """The number of lines, without empty ones and those of progress bars, which depend on the time."""
    parts = rank.stdout.replace("\b", "").split("\n")
    return sum(bool(part.strip()) and not PROGRESS.match(part) for part in parts)
