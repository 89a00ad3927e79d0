"""Model files: written whole, read without executing anything of theirs, checked before use."""

from scarce._model_files._files import (
    CARD,
    FORMAT,
    LARGEST_DEGREE,
    TRUSTED_TYPES,
    ModelFileError,
    load,
    read_card,
    save,
    save_described,
    whole_file,
    write_whole,
)

__all__ = [
    "CARD",
    "FORMAT",
    "LARGEST_DEGREE",
    "TRUSTED_TYPES",
    "ModelFileError",
    "load",
    "read_card",
    "save",
    "save_described",
    "whole_file",
    "write_whole",
]
