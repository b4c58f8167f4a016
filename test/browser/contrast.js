/* Runs in the page: the contrast of each text with what is behind it, as WCAG reckons it. */
(() => {
  const parse = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (rgb) => {
    const [red, green, blue] = rgb
      .slice(0, 3)
      .map((channel) => channel / 255)
      .map((channel) => (channel <= 0.03928 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = (element) => {
    if (element === null) return [255, 255, 255];
    const color = parse(getComputedStyle(element).backgroundColor);
    return color[3] === 0 ? ground(element.parentElement) : color;
  };
  return [...document.querySelectorAll('#live *')]
    .filter((element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== ''))
    .map((element) => {
      const [a, b] = [luminance(parse(getComputedStyle(element).color)), luminance(ground(element))];
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    });
})();
