import type { Context } from 'hono';
import script from './client/main.ts?bundle';
import style from './style.css?bundle';

export function getStyle(c: Context): Response {
  return c.body(style, 200, { 'Content-Type': 'text/css; charset=utf-8' });
}

export function getScript(c: Context): Response {
  return c.body(script, 200, { 'Content-Type': 'text/javascript; charset=utf-8' });
}
