import { readdir, readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import type { Refusal } from '../core/errors.ts'
import { mountOf, pathPrefixOf } from './selection.ts'

/** The path of the dashboard. */
const HOME = '/__emulator/ui/'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
}

/** Scripts, styles and requests only from this origin: the page shows data of clients, which must stay text. */
const HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-cache',
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}

interface PagesOptions {
  /** The folder with the files of the build. */
  readonly folder: string
  /** Refuses a foreign `Host` or `Origin`. */
  guard(req: IncomingMessage): Refusal | undefined
  /** Responds with a refusal. */
  refuse(req: IncomingMessage, res: ServerResponse, refusal: Refusal): void
  /** Called before the page is sent. */
  onPage(): Promise<void>
}

/**
 * Serves the dashboard: its page and assets, which contain no data and so need no control token. Browsers are redirected to it
 * from `/`; other clients get addresses there, since tools that wait for a server expect 200. Other requests go to `next`. No file is read before the first request for one.
 */
export function dashboardPages({ folder, guard, refuse, onPage }: PagesOptions) {
  let names: Promise<readonly string[]> | undefined

  async function serve(name: string, req: IncomingMessage, res: ServerResponse): Promise<boolean> {
    names ??= readdir(folder).catch(() => [])
    const known = await names
    if (known.length === 0) return notBuilt(res)
    if (!known.includes(name)) return false
    if (name === 'index.html') await onPage()
    const bytes = await readFile(join(folder, name))
    res.writeHead(200, {
      ...HEADERS,
      'Content-Type': TYPES[extname(name)] ?? 'application/octet-stream',
      'Content-Length': bytes.length,
    })
    res.end(req.method === 'HEAD' ? undefined : bytes)
    return true
  }

  return (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void): void => {
    const [path = '', query] = (req.url ?? '').split('?')
    const target = targetOf(req, path)
    const refusal = target === undefined ? undefined : guard(req)
    if (refusal !== undefined) refuse(req, res, refusal)
    else if (target === undefined) next()
    else if (target === '') sendAddresses(req, res)
    else if (target.startsWith('/'))
      redirect(res, sandboxOf(req) + (query === undefined ? target : `${target}?${query}`))
    else void serve(target, req, res).then((served) => (served ? undefined : next()), next)
  }
}

/** The path at which the emulator is mounted, with the `/@name` that the request chose. */
function sandboxOf(req: IncomingMessage): string {
  const { originalUrl = '' } = req as { readonly originalUrl?: string }
  const mount = mountOf(req)
  return mount + pathPrefixOf(originalUrl.slice(mount.length))
}

/** The name of a file, a path to redirect to (with a slash), or nothing for `/`; undefined when the request is not for these. */
function targetOf(req: IncomingMessage, path: string): string | undefined {
  if (req.method !== 'GET' && req.method !== 'HEAD') return undefined
  if (path === '/') return req.headers.accept?.includes('text/html') ? HOME : ''
  if (path === HOME.slice(0, -1)) return HOME
  if (path === HOME) return 'index.html'
  return path.startsWith(HOME) ? path.slice(HOME.length) || undefined : undefined
}

function sendAddresses(req: IncomingMessage, res: ServerResponse): void {
  const at = sandboxOf(req)
  const body = JSON.stringify({ api: `${at}/v1`, control: `${at}/__emulator`, dashboard: at + HOME })
  res.writeHead(200, {
    'Content-Type': TYPES['.json'],
    'Content-Length': Buffer.byteLength(body),
    Vary: 'Accept',
  })
  res.end(req.method === 'HEAD' ? undefined : body)
}

function redirect(res: ServerResponse, location: string): void {
  res.writeHead(302, { Location: location, 'Cache-Control': 'no-store', Vary: 'Accept', 'Content-Length': 0 })
  res.end()
}

// Happens in a checkout that has not been built.
function notBuilt(res: ServerResponse): true {
  res.writeHead(503, { ...HEADERS, 'Content-Type': 'text/plain; charset=utf-8' })
  res.end('The dashboard is not built. Run "npm run build" and load this page again.\n')
  return true
}
