"""What is written from the readers' declarations of keys: JSON Schemas, and tables of keys.

    python -m tests.keys            # whether they are current
    python -m tests.keys --write    # renew them

The schemas lie in `workflows/schemas`, the tables between markers in docs/*.md. A test holds
both current.
"""
