// The page for browsers: three files of the build, read when a browser asks for them.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { lazy } from '../core/lrucache.ts'
import type { Site } from '../rpc/site.ts'
import { pathOf } from '../server/answer.ts'

/** Beside the bundle; the build writes it. */
const folder = lazy(() => fileURLToPath(new URL('../page', import.meta.url)))

/** The files by path. No chain has such a path, as names of chains have no dot. */
const FILES: Readonly<Record<string, string>> = {
  '/page.js': 'text/javascript; charset=utf-8',
  '/page.css': 'text/css; charset=utf-8',
  '/page.svg': 'image/svg+xml',
}

/**
 * Scripts, styles and connections of this server only, no frames around it, and no text that becomes HTML or a script: what
 * contracts are named and why they revert is not to be trusted.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-cache',
}

/** @param isChain the path is of a chain, or of one that the first request makes */
export function pageSite(isChain: (path: string) => boolean): Site {
  // browsers name HTML when they open a page; programs and probes do not
  const isForBrowsers = (accept: string): boolean => accept.toLowerCase().includes('text/html')
  return {
    owns: ({ method, target, accept }) =>
      method === 'GET' &&
      (pathOf(target) in FILES || (isForBrowsers(accept) && isChain(pathOf(target)))),
    answer: async ({ target }) => {
      const path = pathOf(target)
      const contentType = FILES[path] ?? 'text/html; charset=utf-8'
      const body = await readFile(folder() + (path in FILES ? path : '/index.html'), 'utf8')
      return { status: 200, contentType, body, headers: HEADERS }
    },
  }
}
