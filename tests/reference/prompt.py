"""Compares `deft skills prompt DIR…` with the reference's `to-prompt`, byte for byte.

usage: prompt.py DEFT
"""

import pathlib
import subprocess
import sys
import tempfile

from skills_ref.prompt import to_prompt

SKILLS = {
    "plain": ("plain", "Says hello."),
    "escapes": ("escapes", """'Uses <tags> & "quotes", also ''single'' ones.'"""),
    "wide": ("wide", "Größe, 日本語 and 🍌."),
    "folded": ("folded", ">-\n  One line\n  and another:\n  both."),
    "padded": ("padded", '"  around  "'),
    "ünïcode": ("ünïcode", "A name that is not ASCII."),
}


def main() -> int:
    deft = sys.argv[1]
    with tempfile.TemporaryDirectory() as root:
        folders = []
        for folder, (name, description) in SKILLS.items():
            path = pathlib.Path(root, folder)
            path.mkdir()
            file = path / ("skill.md" if folder == "plain" else "SKILL.md")
            file.write_text(f"---\nname: {name}\ndescription: {description}\n---\nbody\n", encoding="utf-8")
            folders.append(path)
        for order in (folders, folders[::-1], folders[:1]):
            ours = subprocess.run([deft, "skills", "prompt", *map(str, order)], capture_output=True, check=True)
            theirs = to_prompt(order) + "\n"
            if ours.stdout.decode() != theirs:
                print("ours:", ours.stdout.decode(), "theirs:", theirs, sep="\n")
                return 1
    print(f"to-prompt: equal for {len(SKILLS)} skills")
    return 0


if __name__ == "__main__":
    sys.exit(main())
