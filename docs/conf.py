"""How the site is built: ``python -m sphinx docs docs/_build/html``."""

import importlib
import inspect
import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
from docutils import nodes

import scarce
from scarce._names import HOMES, PACKAGES

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # what is here, and benchmarks, are not installed
links = importlib.import_module("links")
gallery_layout = importlib.import_module("gallery_layout")

project = "scarce"
author = "the scarce developers"
version = release = scarce.__version__
project_copyright = "the scarce developers"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    # Formulas without a request to another host.
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build", "gallery/sg_execution_times.rst", "sg_execution_times.rst"]
templates_path = ["_templates"]
# Pages of figures are written by benchmarks, in sections that are also printed.
suppress_warnings = ["myst.header"]
nitpicky = True
# Words of numpydoc's type lines that are no references of ours; our own names must resolve.
nitpick_ignore_regex = [(r"py:.*", r"(?!scarce\.).*")]
intersphinx_mapping = links.write_inventories(HERE / "_build" / "inventories")
OURS, OTHERS = links.names_of_ours(), links.names_of_others()

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_default_options = {"members": True, "inherited-members": True, "undoc-members": False}
autodoc_typehints = "none"  # the docstrings say it in words
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
toc_object_entries_show_parents = "hide"

copybutton_prompt_text = r">>> |\.\.\. |\$ "  # what is copied can be run
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "scarce"
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "scarce"},
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}  # light or dark, as the system is
html_sidebars = {"index": [], "quick_start": []}

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "subsection_order": "gallery_layout.section_place",
    "within_subsection_order": "gallery_layout.InOrderOfTheGuide",
    "image_scrapers": ("gallery_layout.whole_figures",),
    # The examples that use a class, on its page.
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("scarce",),
    "inspect_global_variables": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
}


def page_of(title: str, text: str, paths: list[str]) -> str:
    """Return a page of the reference: a title, what it is, and a table of names."""
    lines = [title, "=" * len(title), "", text.strip(), ""]
    if paths:  # else they are all on the pages of other packages
        lines += [".. autosummary::", "   :toctree: generated", "   :nosignatures:", ""]
    return "\n".join(lines + [f"   {path}" for path in paths]) + "\n"


def write_reference() -> None:
    """Write a page of the reference for each public package, from its ``__all__``."""
    names = [name for name in scarce.__all__ if name not in HOMES and name != "__version__"]
    pages = {
        "scarce": page_of("scarce", "Model files, and a warning.", [f"scarce.{n}" for n in names])
    }
    seen: set[int] = set()  # a display that two packages share has one page
    for package in PACKAGES:
        title = f"scarce.{package}"
        module = importlib.import_module(title)
        paths = []
        for name in sorted(module.__all__):
            thing = getattr(module, name)
            if id(thing) not in seen:
                # What scarce itself has is documented under that, its shorter name.
                paths.append(f"scarce.{name}" if name in HOMES else f"{title}.{name}")
            seen.add(id(thing))
        pages[package] = page_of(title, module.__doc__ or "", paths)
    for name, page in pages.items():
        path = HERE / "reference" / f"{name}.rst"
        if not path.exists() or path.read_text() != page:
            path.write_text(page)


def skip_foreign(app, what, name, obj, skip, options):
    """Leave out what scikit-learn documents, and attributes that a class only declares.

    The former are its methods and the setters of its routing, the latter are in the docstring.
    """
    home = getattr(obj, "__module__", None) or ""
    declared = type(obj).__module__.startswith("sphinx.")
    routing = re.fullmatch(r"set_\w+_request|get_metadata_routing", name)
    return True if declared or routing or home.startswith("sklearn.") else None


def module_of(app, module, name):
    """Return the module in which a class is written; `__module__` is the one it is public in."""
    thing = vars(importlib.import_module(module)).get(name)
    own = filter(inspect.isfunction, vars(thing).values()) if inspect.isclass(thing) else ()
    return next((each.__module__ for each in own), None)


def escape_trailing_underscores(app, what, name, obj, options, lines):
    """Keep ``(n_features_in_,)`` in a line of types from being read as a link."""
    lines[:] = [re.sub(r"(?<=[(, ])(\w+)_,\)", r"\1\_,)", line) for line in lines]


def close_blocks(app, page, source):
    """Take away the empty line that doctest needs at the end of a block, and readers do not."""
    source[0] = re.sub(r"\n\n```\n", "\n```\n", source[0])


def link_names(app, page, source):
    """Lead from the names of classes and functions in the text to their pages."""
    if app.env.doc2path(page).suffix == ".md":
        source[0] = links.link_names(page, source[0], OURS, OTHERS)


def finish_page(app, page, template, context, doctree):
    """Lead from source code to where its names are documented; let long names break elsewhere."""
    if page.startswith("_modules/"):
        context["body"] = links.own_anchors(context["body"])
    elif "body" in context:
        context["body"] = links.breakable(context["body"])


def let_sentences_wrap(app, doctree):
    """Mark tables of sentences: their cells break into lines, those of figures do not."""
    for table in doctree.findall(nodes.table):
        cells = [cell for row in table.findall(nodes.row) for cell in row.children[1:]]
        if any(len(cell.astext()) > 40 for cell in cells):
            table["classes"].append("sentences")


def setup(app):
    """Connect the hooks above, the last after numpydoc has laid out a docstring."""
    app.connect("builder-inited", gallery_layout.use_panels, priority=900)  # the gallery is there
    app.connect("source-read", close_blocks)
    app.connect("source-read", link_names)
    app.connect("doctree-read", let_sentences_wrap)
    app.connect("html-page-context", finish_page)
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("viewcode-follow-imported", module_of)
    app.connect("autodoc-process-docstring", escape_trailing_underscores, priority=900)


def draw_for_both_schemes() -> None:
    """Draw the history of benchmarks, for light and for dark pages."""
    history = importlib.import_module("benchmarks.history")
    for scheme, style in (("light", "default"), ("dark", "dark_background")):
        with plt.style.context(style):
            figure = history.draw_history(history.read_lines())
            figure.savefig(HERE / "images" / f"history-{scheme}.svg", transparent=True)
            plt.close(figure)


write_reference()  # before Sphinx looks which pages there are
draw_for_both_schemes()
