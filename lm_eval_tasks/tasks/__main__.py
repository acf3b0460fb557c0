"""Writes the task files of a clone: `python -m lm_eval_tasks.tasks`."""

from __future__ import annotations

from lm_eval_tasks.tasks.yaml_files import contents, left_over

if __name__ == "__main__":
    files = contents()
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in left_over(files):
        path.unlink()
