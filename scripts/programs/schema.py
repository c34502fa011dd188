"""Write the JSON Schema of the configuration files, which editors use to complete and to check them."""

import json
from pathlib import Path

from turnkeeper.settings import checking

path = Path(checking.__file__).with_name("turnkeeper.schema.json")
path.write_text(json.dumps(checking.schema(), indent=2, ensure_ascii=False) + "\n", "utf-8")
print(f"wrote {path.name}")
