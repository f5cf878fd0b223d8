"use strict";
(() => {
  const pictures = JSON.parse(document.getElementById("pictures").textContent);
  const form = document.querySelector(".filters");
  const gallery = document.querySelector(".gallery");
  const count = form.querySelector(".count");
  const dialog = document.querySelector("dialog");
  const plain = (text) => text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();

  const queries = [...gallery.querySelectorAll(".query")].map((element) => ({
    element,
    number: Number(element.dataset.number),
    rank: Number(element.dataset.rank),
    kinds: new Set(element.dataset.kinds.split(" ")),
    slices: JSON.parse(element.dataset.slices),
    words: null,
  }));
  const orders = {
    worst: (a, b) => b.rank - a.rank || a.number - b.number,
    best: (a, b) => (a.rank < 0) - (b.rank < 0) || a.rank - b.rank || a.number - b.number,
    dataset: (a, b) => a.number - b.number,
  };

  const show = (query) => {
    for (const button of query.querySelectorAll(".pictures")) {
      const images = pictures[button.dataset.item];
      button.querySelectorAll("img").forEach((image, place) => { if (!image.src) image.src = images[place]; });
    }
  };

  let order = "worst";
  const apply = () => {
    const wanted = plain(form.elements.text.value).split(" ").filter(Boolean);
    const kind = form.elements.kind.value;
    const chosen = [...form.querySelectorAll("[name=slice]")].filter((select) => select.value);
    let seen = 0;
    for (const query of queries) {
      if (wanted.length && query.words === null) query.words = plain(query.element.textContent);
      const passes = (!kind || query.kinds.has(kind))
        && chosen.every((select) => `${query.slices[select.dataset.field]}` === select.value)
        && wanted.every((word) => query.words.includes(word));
      query.element.hidden = !passes;
      seen += passes;
    }
    if (form.elements.order.value !== order) {
      order = form.elements.order.value;
      gallery.append(...[...queries].sort(orders[order]).map((query) => query.element));
    }
    count.textContent = seen ? `${seen} of ${queries.length} queries` : "No query passes; clear the filters to see all.";
  };

  let waiting = 0;
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 120); });
  form.addEventListener("change", apply);
  form.addEventListener("reset", () => setTimeout(apply));
  form.addEventListener("submit", (event) => { event.preventDefault(); apply(); });

  gallery.addEventListener("click", (event) => {
    const button = event.target.closest(".pictures");
    if (!button) return;
    dialog.querySelector("h2").textContent = button.dataset.name;
    dialog.querySelector("div").replaceChildren(...pictures[button.dataset.item].map((uri, place, all) => {
      const image = document.createElement("img");
      image.src = uri;
      image.alt = all.length > 1 ? `frame ${place + 1} of ${all.length}` : "picture";
      return image;
    }));
    dialog.showModal();
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) { show(entry.target); observer.unobserve(entry.target); }
    }
  }, { rootMargin: "800px" });
  for (const query of queries) observer.observe(query.element);
  addEventListener("beforeprint", () => queries.forEach((query) => show(query.element)));

  form.hidden = false;
  apply();

  const root = document.documentElement;
  new ResizeObserver(() => {
    const height = form.offsetHeight;
    form.classList.toggle("tall", height > 8 * parseFloat(getComputedStyle(root).fontSize));
    const sticks = getComputedStyle(form).position === "sticky";
    root.style.scrollPaddingTop = sticks ? `${height + 8}px` : "";  // else what gets the focus may lie below the filters
  }).observe(form);
})();
