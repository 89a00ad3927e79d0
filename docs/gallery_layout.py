"""How sphinx-gallery shows the examples: in which order, and with which figure."""

from sphinx_gallery.py_source_parser import split_code_and_text_blocks
from sphinx_gallery.scrapers import matplotlib_scraper

ORDER = (
    "overview",
    "single_class",
    "false_alarms",
    "drift",
    "open_set",
    "per_group",
    "transfer_one_class",
    "uncertain_measurements",
    "positive_unlabeled",
    "mapping_convergence",
    "shares_of_groups",
    "group_probabilities",
    "tensor_one_class",
    "tensor_kernels",
    "choosing_without_negatives",
    "ranked_table",
    "explained_rows",
    "rows_by_chunks",
    "own_machine",
)


class InOrderOfTheGuide:
    """The place of an example by its file name; one that has none is an error."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, name):
        """Return the place."""
        return ORDER.index(name.removeprefix("plot_").removesuffix(".py"))


def whole_figures(block, block_vars, gallery_conf):
    """Return the text that shows the figures, after the last block; nothing before.

    sphinx-gallery by itself takes, and closes, a figure after every block, so that panels which are
    drawn later stay empty.
    """
    _, blocks = split_code_and_text_blocks(block_vars["src_file"])
    last = [each for each in blocks if each.type == "code"][-1]
    if block.lineno != last.lineno:
        return ""
    return matplotlib_scraper(block, block_vars, gallery_conf)
