// Run by tests/screenshots.py in a headless browser: each page of PAGES in a frame of each of WIDTHS,
// and what does not fit or is too small there, as JSON, back to the server that this came from.
"use strict";

const LEAST = 10; // px of a letter
const SLACK = 1.5; // px that rounding may take

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
