"""How sphinx-gallery shows the examples: in which order, with which figure and thumbnail."""

from pathlib import Path, PurePath

import matplotlib.pyplot as plt
from sphinx_gallery.py_source_parser import split_code_and_text_blocks
from sphinx_gallery.scrapers import matplotlib_scraper
from sphinx_gallery.utils import scale_image

SECTIONS = {  # those of the guide
    "situations": (
        "overview",
        "single_class",
        "transfer_one_class",
        "uncertain_measurements",
        "positive_unlabeled",
        "mapping_convergence",
        "label_proportions",
        "tensor_one_class",
        "tensor_kernels",
        "windows",
        "open_set",
        "per_group",
    ),
    "questions": (
        "false_alarms",
        "drift",
        "group_probabilities",
        "audit_of_proportions",
        "choosing_without_negatives",
    ),
    "practice": (
        "ranked_table",
        "rows_by_chunks",
        "updates",
        "explained_rows",
        "own_machine",
    ),
}
# Thumbnails show one panel of a figure: the first, or this one.
PANELS = {
    "overview": 1,
    "transfer_one_class": 4,
    "uncertain_measurements": 1,
    "positive_unlabeled": 1,
    "mapping_convergence": 3,
    "label_proportions": 2,
    "tensor_one_class": 2,
    "tensor_kernels": 3,
    "drift": 1,
    "group_probabilities": 2,
    "choosing_without_negatives": 2,
    "own_machine": 1,
}
ORDER = [name for names in SECTIONS.values() for name in names]


class InOrderOfTheGuide:
    """The place of an example by its file name; one that has none is an error."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, name):
        """Return the place."""
        return ORDER.index(name.removeprefix("plot_").removesuffix(".py"))


def section_place(folder):
    """Return the place of a section by its folder."""
    return list(SECTIONS).index(PurePath(folder).name)


def whole_figures(block, block_vars, gallery_conf):
    """Return the text that shows the figures, after the last block; nothing before.

    sphinx-gallery by itself takes, and closes, a figure after every block, so that panels which are
    drawn later stay empty.
    """
    _, blocks = split_code_and_text_blocks(block_vars["src_file"])
    last = [each for each in blocks if each.type == "code"][-1]
    if block.lineno != last.lineno:
        return ""
    keep_panel(Path(block_vars["src_file"]).stem, block_vars["image_path_iterator"])
    return matplotlib_scraper(block, block_vars, gallery_conf)


def keep_panel(stem, paths):
    """Save one panel of the figure, large enough to be read as a thumbnail."""
    figure = plt.gcf()
    figure.canvas.draw()
    panels = [axes for axes in figure.axes if axes.get_subplotspec() is not None]
    box = panels[PANELS.get(stem.removeprefix("plot_"), 0)].get_tightbbox()
    inches = box.transformed(figure.dpi_scale_trans.inverted()).padded(0.05)
    folder = Path(paths.image_path).parent
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"panel_{stem}.png", bbox_inches=inches)


def use_panels(app):
    """Replace the thumbnails, in which whole figures are too small to be read."""
    size = app.config.sphinx_gallery_conf["thumbnail_size"]
    for panel in Path(app.srcdir, "gallery").rglob("panel_plot_*.png"):
        name = panel.name.removeprefix("panel_")
        thumb = panel.parent / "thumb" / f"sphx_glr_{name.replace('.png', '_thumb.png')}"
        scale_image(panel, thumb, *size)
