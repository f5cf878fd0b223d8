"""Parquet files whose footers make pyarrow abort its process when the metadata of a column are asked for."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

_TEXT_COLUMN = b"\x15\x0c\x19"
"""How the metadata of a column of texts or bytes begin, in Thrift's compact protocol: field 1, the type 6, field 2."""


def break_footer(path: Path) -> Path:
    """Turns the type of the last column of texts or bytes into another, in the footer alone; the file."""
    content = bytearray(path.read_bytes())
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    place = content.rindex(_TEXT_COLUMN, footer)
    content[place + 1] = 2  # whole numbers of 32 bits
    path.write_bytes(content)
    return path


def write_encrypted(path: Path, table: Any, column: str, plain_footer: bool) -> Path:
    """A table with one encrypted column, in row groups of two; the file.

    Args:
        column: a leaf such as `image.bytes`.
        plain_footer: whether everybody may read the footer, but for what it says of that column.
    """
    from pyarrow.parquet import ParquetWriter, encryption

    class Keys(encryption.KmsClient):  # type: ignore[misc]  # pyarrow has no types: its classes are Any
        """Keeps keys in the file itself."""

        def wrap_key(self, key_bytes: bytes, master_key_identifier: str) -> bytes:
            return base64.b64encode(key_bytes)

        def unwrap_key(self, wrapped_key: bytes, master_key_identifier: str) -> bytes:
            return base64.b64decode(wrapped_key)

    choices = encryption.EncryptionConfiguration(
        footer_key="footer", column_keys={"column": [column]}, plaintext_footer=plain_footer
    )
    factory = encryption.CryptoFactory(lambda _: Keys())
    properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), choices)
    with ParquetWriter(path, table.schema, encryption_properties=properties) as writer:
        writer.write_table(table, row_group_size=2)
    return path
