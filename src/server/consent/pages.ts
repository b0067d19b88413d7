import express, { type NextFunction, type Request, type Response, Router } from 'express'
import type { Consent } from '../../core/consent.ts'
import { errorKindOf } from '../../core/error-kinds.ts'
import { Refusal, refuse } from '../../core/errors.ts'
import { change } from '../../core/sandboxes/change.ts'
import type { Sandboxes } from '../../core/sandboxes/sandboxes.ts'
import type { Service } from '../../core/service.ts'
import { chooseForControl, mountOf, openSandbox } from '../selection.ts'
import { messagePage, questionPage, STYLE_HASH } from './html.ts'

interface ConsentOptions {
  readonly service: Pick<Service, 'consents'>
  readonly sandboxes: Sandboxes
  /** Refuses a foreign `Host` or `Origin`. */
  guard(req: Request): Refusal | undefined
  /** Called with errors that are defects of the emulator. */
  onDefect(error: unknown): void
}

/** The path of the pages. */
const PATH = '/consent'

/** Maximum bytes of the form, which has one short field. */
const LARGEST_FORM = 4_096

/**
 * The consent pages, at `/consent/{name}/{nonce}`. They are forms without a script, and need no control token: the nonce, which
 * works once, proves that the browser was sent here.
 */
export function consentPages(options: ConsentOptions): Router {
  const router = Router()
  const form = express.urlencoded({ extended: false, limit: LARGEST_FORM })
  router.use((req: Request, _res: Response, next: NextFunction) => next(options.guard(req)))
  router.get('/:name/:nonce', (req: Request, res: Response) => ask(options, req, res))
  router.post('/:name/:nonce', form, (req: Request, res: Response) => decide(options, req, res))
  router.use(() => {
    refuse('route_not_found', {
      detail: 'There is no consent page at this address for this method.',
      mitigation: 'Open the redirect_url of a connection, or the authorize_url of an OAuth flow.',
    })
  })
  // Express recognises an error handler by its four parameters.
  router.use((error: unknown, _req: Request, res: Response, _next: NextFunction) => {
    const [status, ...sentences] = responseTo(options, error)
    send(res, status, messagePage('This page cannot continue', ...sentences))
  })
  return router
}

async function ask(options: ConsentOptions, req: Request, res: Response): Promise<void> {
  const { consent, call, sandbox } = await found(options, req)
  const { result } = change(sandbox, (scope) => consent.ask(scope, call))
  send(res, 200, questionPage(result, sandbox.name, consent.errors), result.returnsTo)
}

async function decide(options: ConsentOptions, req: Request, res: Response): Promise<void> {
  const { consent, call, sandbox } = await found(options, req)
  const outcomes = ['allow', 'deny', ...Object.keys(consent.errors)]
  const outcome = String((req.body as { readonly outcome?: unknown } | undefined)?.outcome)
  if (!outcomes.includes(outcome)) {
    refuse('bad_request', { detail: `The field outcome must be one of ${outcomes.join(', ')}.` })
  }
  const { result: target } = change(sandbox, (scope) => consent.decide(scope, call, outcome))
  const done = outcome === 'allow' ? 'Access is granted' : 'Access is not granted'
  if (target !== null) res.setHeader('Location', target)
  send(res, target === null ? 200 : 303, messagePage(done, 'You can close this page now.'), target)
}

async function found({ service, sandboxes }: ConsentOptions, req: Request) {
  const { name } = chooseForControl(req.originalUrl.slice(mountOf(req, PATH).length), req)
  const consent: Consent | undefined = service.consents.get(String(req.params.name))
  if (consent === undefined) {
    refuse('route_not_found', {
      detail: `There is no consent page with this name. The names are ${[...service.consents.keys()].join(' and ')}.`,
    })
  }
  const sandbox = await openSandbox(sandboxes, name, { onlyReads: true })
  const query = new URLSearchParams(req.url.split('?')[1])
  return { consent, sandbox, call: { nonce: String(req.params.nonce), query } }
}

function responseTo({ onDefect }: ConsentOptions, error: unknown): [status: number, ...sentences: string[]] {
  if (error instanceof Refusal) {
    const { mitigation, status } = error.options
    const usual = errorKindOf(error.code).status
    // Settings can change the statuses of the API. This page is not part of it, so it uses the defaults.
    return [
      status ?? (typeof usual === 'number' ? usual : usual.default),
      error.message,
      ...(mitigation === undefined ? [] : [mitigation]),
    ]
  }
  // Errors of express.urlencoded for a body that it does not accept.
  const { status, expose } = error as { readonly status?: number; readonly expose?: boolean }
  if (expose === true && status !== undefined) return [status, 'The form could not be read.']
  onDefect(error)
  return [500, 'The emulator has a defect; see its log.']
}

function send(res: Response, status: number, html: string, returnsTo: string | null = null): void {
  res.status(status).set({
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': [
      "default-src 'none'",
      `style-src ${STYLE_HASH}`,
      "base-uri 'none'",
      `form-action 'self' ${returnSources(returnsTo).join(' ')}`,
      "frame-ancestors 'none'",
    ].join('; '),
    // With no-referrer, browsers send the form with `Origin: null`, which the guard refuses.
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  })
  res.end(res.req.method === 'HEAD' ? undefined : html)
}

// Browsers apply form-action also to redirects after a form, and an application may redirect from its own port to another.
function returnSources(returnsTo: string | null): string[] {
  if (returnsTo === null) return []
  const { origin, hostname } = new URL(returnsTo)
  // A source in a Content-Security-Policy cannot be an IPv6 address.
  return ['https:', 'http://localhost:*', 'http://127.0.0.1:*', hostname.startsWith('[') ? 'http:' : origin]
}
