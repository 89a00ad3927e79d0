"""How the site is built: ``python -m sphinx docs docs/_build/html``."""

import importlib
from pathlib import Path

import scarce
from scarce._names import HOMES, PACKAGES

HERE = Path(__file__).parent

project = "scarce"
author = "the scarce developers"
version = release = scarce.__version__
project_copyright = "the scarce developers"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    # Formulas without a request to another host.
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build"]
nitpicky = True
# Words of numpydoc's type lines that are no references of ours; our own names must resolve.
nitpick_ignore_regex = [(r"py:.*", r"(?!scarce\.).*")]

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_default_options = {"members": True, "inherited-members": True, "undoc-members": False}
autodoc_typehints = "none"  # the docstrings say it in words
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "scarce"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "scarce"},
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "quick_start": []}

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
}


def write_reference() -> None:
    """Write a page of the reference for each public package, from its ``__all__``."""
    folder = HERE / "reference"
    for package in PACKAGES:
        title = f"scarce.{package}"
        module = importlib.import_module(title)
        # What can be imported from scarce itself is documented under that, its shorter name.
        paths = [
            f"scarce.{name}" if name in HOMES else f"{title}.{name}"
            for name in sorted(module.__all__)
        ]
        lines = [title, "=" * len(title), "", (module.__doc__ or "").strip(), ""]
        lines += [".. autosummary::", "   :toctree: generated", ""]
        lines += [f"   {path}" for path in paths]
        page, path = "\n".join(lines) + "\n", folder / f"{package}.rst"
        if not path.exists() or path.read_text() != page:
            path.write_text(page)


write_reference()  # before Sphinx looks which pages there are
