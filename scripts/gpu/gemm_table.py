"""Prints the tables of docs/gemm.md.

usage: gemm_table.py OUT.jsonl, what bench_gemm.py wrote
"""

import json
import pathlib
import sys

from common import mean

WAYS = ("library", "flattened", "flattened_stores", "persistent", "persistent_stores", "pointers")
OTHER = ("_padded", "_viewed")
LAYOUTS = ("padded_", "permuted_", "vocabulary_", "conv1x1_")
# attention has one form of template
ONE_FORM = "attention"


def way(row):
    return "template" if row["name"].startswith(ONE_FORM) and row["chosen"] != "library" else row["chosen"]


def ratio(row, how):
    return row[how]["compile"] / row[how]["fuselens"]


def main(path):
    rows = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]
    measured = [r for r in rows if r.get("cold", {}).get("compile") and r["graph"].get("compile")]
    rows = [r for r in measured if not r["name"].startswith(LAYOUTS)]
    print("| program | way | ours | torch.compile | eager | ratio cold | ratio graph | error | error of torch.compile |\n|---|---|---|---|---|---|---|---|---|")
    for r in rows:
        c, e = r["cold"], r["error"]
        print(
            f"| {r['name']} | {way(r)} | {c['fuselens']:.1f} | {c['compile']:.1f} | {c['eager']:.1f} "
            f"| {ratio(r, 'cold'):.2f} | {ratio(r, 'graph'):.2f} | {e['fuselens']:.1e} | {e['compile']:.1e} |"
        )
    products = [r for r in rows if not r["name"].startswith(ONE_FORM)]
    for how in ("cold", "graph"):
        ratios = [ratio(r, how) for r in products]
        print(f"\nmatrix products, {how}: geometric mean {mean(ratios):.2f}, least {min(ratios, default=0):.2f}", end="")
    print("\n\n| program | " + " | ".join(WAYS) + " |\n" + "|---" * (1 + len(WAYS)) + "|")
    for r in rows:
        names = {"template" if k != "library" and r["name"].startswith(ONE_FORM) else k: k for k in r["ways"]}
        cells = []
        for w in WAYS:
            known = names.get("template" if w == "flattened" and "template" in names else w)
            cells.append("" if known is None else f"**{r['ways'][known]:.1f}**" if known == r["chosen"] else f"{r['ways'][known]:.1f}")
        print(f"| {r['name']} | " + " | ".join(cells) + " |")
    layouts([r for r in measured if r["name"].startswith(LAYOUTS)])


def layouts(rows):
    """Of programs about how operands lie: all sides, and the fastest ways with operands as given and otherwise."""
    sides = ("fuselens", "untuned", "compile", "default", "eager")
    print("\n| program | way | ours | untuned | torch.compile | default | eager | ratio cold | ratio graph | error | error of torch.compile |\n" + "|---" * 11 + "|")
    for r in rows:
        times = " | ".join(f"{r['cold'][side]:.1f}" for side in sides)
        ratios = f"{ratio(r, 'cold'):.2f} | {ratio(r, 'graph'):.2f}"
        print(f"| {r['name']} | {r['chosen']} | {times} | {ratios} | {r['error']['fuselens']:.1e} | {r['error']['compile']:.1e} |")
    print("\n| program | as given | otherwise |\n|---|---|---|")
    for r in rows:
        given, otherwise = (min(((us, way) for way, us in r["ways"].items() if way.endswith(OTHER) == other), default=None) for other in (False, True))
        if given and otherwise:
            print(f"| {r['name']} | {given[0]:.1f} ({given[1]}) | {otherwise[0]:.1f} ({otherwise[1]}) |")


if __name__ == "__main__":
    main(sys.argv[1])
