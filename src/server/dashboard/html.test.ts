import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { html, type TemplatePart } from './html.ts';

const markupOf = String;

describe('html', () => {
  it('escapes text, in elements and attributes', () => {
    const nasty = `<script>alert("x")</script> & 'y'`;
    expect(markupOf(html`<b title="${nasty}">${nasty}</b>`)).toBe(
      '<b title="&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;y&#39;">&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;y&#39;</b>',
    );
  });

  it('keeps markup, joins lists, leaves out nothing', () => {
    const items = [1, 2].map((n) => html`<b>${n}</b>`);
    expect(markupOf(html`<i>${items}${null}${undefined}${false}${0}</i>`)).toBe('<i><b>1</b><b>2</b>0</i>');
  });

  it('takes an object of another make for text, not for markup', () => {
    const forged = Object.assign(Object.create(null) as object, { toString: () => '<script>' }) as TemplatePart;
    expect(markupOf(html`${forged}`)).not.toContain('<script>');
  });

  it('never lets text break out, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const markup = markupOf(html`${text}`);
        expect(markup).not.toMatch(/[<>"']/);
        expect(markup.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, '')).not.toContain('&');
      }),
    );
  });
});
