/** Makes `from` look like `to` and keeps every node that stays: focus, selection and open details stay with it. */
export function morph(from: Node, to: Node): void {
  if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName || keyOf(from) !== keyOf(to)) {
    (from as ChildNode).replaceWith(to);
    return;
  }
  if (!(from instanceof Element) || !(to instanceof Element)) {
    if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue;
    return;
  }
  if (from.hasAttribute('data-keep') || from.isEqualNode(to)) return;
  morphAttributes(from, to);
  // The browser writes the text of a time: the server's is as old as its answer, and in another zone.
  if (!from.hasAttribute('data-clock') && !from.hasAttribute('data-moment')) morphChildren(from, to);
}

function morphAttributes(from: Element, to: Element): void {
  const isOwn = (name: string) => name === 'open' || (name === 'class' && from.classList.contains('arrived'));
  for (const { name } of Array.from(from.attributes)) if (!to.hasAttribute(name) && !isOwn(name)) from.removeAttribute(name);
  for (const { name, value } of to.attributes) {
    if (!isOwn(name) && from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
}

function morphChildren(from: Element, to: Element): void {
  const known = keptChildren(from, to);
  let current: ChildNode | null = from.firstChild;
  for (const next of Array.from(to.childNodes)) {
    const same = known.get(keyOf(next) ?? '');
    if (same !== undefined) {
      if (same !== current) from.insertBefore(same, current);
      current = same.nextSibling;
      morph(same, next);
    } else if (current !== null && isAlike(current, next)) {
      const after: ChildNode | null = current.nextSibling;
      morph(current, next);
      current = after;
    } else {
      from.insertBefore(next, current);
      if (next instanceof Element && keyOf(next) !== null) next.classList.add('arrived');
    }
  }
  while (current !== null) {
    const after: ChildNode | null = current.nextSibling;
    current.remove();
    current = after;
  }
}

/** The children that stay, by key; keyed ones that are no longer wanted are removed. */
function keptChildren(from: Element, to: Element): ReadonlyMap<string, Element> {
  const wanted = new Set([...to.children].map(keyOf));
  const known = new Map<string, Element>();
  for (const child of Array.from(from.children)) {
    const key = keyOf(child);
    if (key === null) continue;
    if (wanted.has(key)) known.set(key, child);
    else child.remove();
  }
  return known;
}

function isAlike(current: ChildNode, next: ChildNode): boolean {
  return keyOf(next) === null && keyOf(current) === null && current.nodeName === next.nodeName;
}

function keyOf(node: Node): string | null {
  return node instanceof Element ? node.getAttribute('data-key') : null;
}
