// Run by tests/screenshots.py in a headless browser: each page of PAGES in a frame of each of WIDTHS,
// and what does not fit or is too small there, as JSON, back to the server that this came from.
"use strict";

const LEAST = 10; // px of a letter
const SLACK = 1.5; // px that rounding may take
const CONTRAST = 4.5; // of a text and its ground, WCAG 2.2

function named(element) {
  const own = element.closest("[id]");
  const text = (element.textContent || element.getAttribute("alt") || "").trim().replace(/\s+/g, " ");
  const where = own && own.id ? ` in #${own.id}` : "";
  return `${element.tagName.toLowerCase()}${where} "${text.slice(0, 40)}"`;
}

function scrolls(view, element) {
  for (let at = element; at; at = at.parentElement) {
    if (["auto", "scroll"].includes(view.getComputedStyle(at).overflowX)) return true;
  }
  return false;
}

// Red, green, blue and opacity of a colour as the browser writes it.
function parts(colour) {
  const [red, green, blue, opacity = 1] = colour.match(/[\d.]+/g).map(Number);
  return [red, green, blue, opacity];
}

function over(above, below) {
  return [0, 1, 2].map((k) => above[3] * above[k] + (1 - above[3]) * below[k]);
}

// Relative luminance.
function luminance(colour) {
  const [red, green, blue] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

// The ratio of an element's text and what lies behind it.
function contrast(view, element) {
  const grounds = [];
  for (let at = element; at && (grounds.at(-1) || [0, 0, 0, 0])[3] < 1; at = at.parentElement) {
    grounds.push(parts(view.getComputedStyle(at).backgroundColor));
  }
  const ground = grounds.reduceRight((below, above) => over(above, below), [255, 255, 255]);
  const text = over(parts(view.getComputedStyle(element).color), ground);
  const [low, high] = [luminance(text), luminance(ground)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

// The smallest letter of a picture at its natural size.
async function smallest(source) {
  const svg = new DOMParser().parseFromString(await (await fetch(source)).text(), "image/svg+xml");
  let least = Infinity;
  for (const text of svg.querySelectorAll("text")) {
    const own = text.closest("[font-size]");
    least = Math.min(least, own ? parseFloat(own.getAttribute("font-size")) : 16);
  }
  return least;
}

async function faults(view, width) {
  const page = view.document;
  const found = [];
  const texts = new Set();
  const read = (element) => element.checkVisibility({ visibilityProperty: true });
  const within = page.querySelector("article") || page.body; // beside which menus may hide
  const shown = (element) => element.checkVisibility({ opacityProperty: true });
  if (page.documentElement.scrollWidth > width + SLACK) {
    found.push(`the page is ${page.documentElement.scrollWidth} px wide`);
  }
  for (const element of within.querySelectorAll("*")) {
    if (!shown(element) || element.closest("svg, math")) continue;
    const box = element.getBoundingClientRect();
    if (box.width && box.right > width + SLACK && !scrolls(view, element)) {
      found.push(`${named(element)} ends at ${Math.round(box.right)} px`);
    }
    const style = view.getComputedStyle(element);
    const cut = ["hidden", "clip"].includes(style.overflowX);
    if (cut && element.clientWidth && element.scrollWidth > element.clientWidth + SLACK) {
      found.push(`${named(element)} is cut`);
    }
  }
  const walker = page.createTreeWalker(page.body, view.NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const own = node.parentElement;
    if (!node.data.trim() || own.closest("script, style, title, template") || !shown(own)) continue;
    const across = own.ownerSVGElement ? own.getScreenCTM() : { a: 1, b: 0 };
    const scale = Math.hypot(across.a, across.b); // of letters that are turned, too
    const size = parseFloat(view.getComputedStyle(own).fontSize) * scale;
    if (size < LEAST - 0.05) found.push(`${named(own)} has letters of ${size.toFixed(1)} px`);
    if (!own.closest("svg") && read(own)) texts.add(own); // contrast.py measures pictures
  }
  for (const theme of ["light", "dark"]) {
    page.body.dataset.theme = theme;
    for (const own of texts) {
      const ratio = contrast(view, own);
      const where = `a contrast of ${ratio.toFixed(2)} on ${theme} pages`;
      if (ratio < CONTRAST) found.push(`${named(own)} has ${where}`);
    }
  }
  for (const image of within.querySelectorAll("img")) {
    const scale = image.getBoundingClientRect().width / image.naturalWidth;
    const letters = image.src.endsWith(".svg") ? await smallest(image.src) : LEAST;
    const size = letters * scale;
    if (!(size >= LEAST - 0.05)) {
      found.push(`${named(image)} has letters of ${size.toFixed(1)} px`);
    }
  }
  return { faults: [...new Set(found)], height: page.documentElement.scrollHeight };
}

async function main() {
  const frame = document.createElement("iframe");
  frame.style.cssText = "border: 0; height: 900px";
  document.body.append(frame);
  const found = [];
  for (const width of WIDTHS) {
    frame.style.width = `${width}px`;
    for (const page of PAGES) {
      await new Promise((done) => {
        frame.onload = done;
        frame.src = page;
      });
      const images = [...frame.contentDocument.images];
      images.forEach((image) => (image.loading = "eager"));
      await Promise.all(images.map((image) => image.decode().catch(() => 0)));
      found.push({ page, width, ...(await faults(frame.contentWindow, width)) });
    }
  }
  return found;
}

main()
  .catch((error) => ({ error: String(error.stack || error) }))
  .then((found) => fetch("/found", { method: "POST", body: JSON.stringify(found) }));
