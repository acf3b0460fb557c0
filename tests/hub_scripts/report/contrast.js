() => {
  // The least contrast of any text with its ground (https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio).
  const parse = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const color = parse(getComputedStyle(node).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  let least = 21;
  for (const node of document.querySelectorAll("main *, header *")) {
    if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()) || node.disabled || !node.offsetParent) continue;
    const [a, b] = [luminance(parse(getComputedStyle(node).color)), luminance(ground(node))].sort((x, y) => y - x);
    least = Math.min(least, (a + 0.05) / (b + 0.05));
  }
  return least;
}
