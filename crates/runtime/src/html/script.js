(() => {
  "use strict";
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const body = document.body;
  const colour = (name) => getComputedStyle(body).getPropertyValue(name).trim();
  const axes = (layout) => Object.keys(layout).filter((key) => /^[xy]axis/.test(key));
  const themed = (layout) => {
    const change = {
      "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
      "font.color": colour("--ink"), "font.family": "system-ui, sans-serif", "font.size": 12,
      "hoverlabel.bgcolor": colour("--panel"), "hoverlabel.font.color": colour("--ink"), "hoverlabel.align": "left",
      "modebar.color": colour("--soft"), "modebar.bgcolor": "rgba(0,0,0,0)", "modebar.activecolor": colour("--bar"),
    };
    for (const axis of axes(layout)) {
      change[axis + ".gridcolor"] = colour("--line");
      change[axis + ".zerolinecolor"] = colour("--line");
      change[axis + ".linecolor"] = colour("--line");
    }
    return change;
  };
  const plots = [];
  for (const script of document.querySelectorAll("script[data-plot]")) {
    const plot = JSON.parse(script.textContent);
    const place = document.getElementById(script.dataset.plot);
    // A narrow legend is tall: each of its names has a line.
    if (place.clientWidth < 600 && plot.layout.showlegend !== false) {
      place.style.height = place.clientHeight + 20 * plot.data.length + "px";
    }
    const hovers = window.matchMedia("(hover: hover)").matches;
    const options = { responsive: true, displaylogo: false, displayModeBar: hovers ? "hover" : false, scrollZoom: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "toImage"] };
    plots.push(Plotly.newPlot(place, plot.data, plot.layout, options)
      .then(() => Plotly.relayout(place, themed(plot.layout))).then(() => [place, plot]));
  }
  dark.addEventListener("change", () => {
    for (const made of plots) made.then(([place, plot]) => Plotly.relayout(place, themed(plot.layout)));
  });
  Promise.all(plots).then(() => { document.documentElement.dataset.drawn = String(plots.length); });
})();
