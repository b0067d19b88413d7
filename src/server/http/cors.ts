import type { IncomingMessage } from 'node:http'
import type { CorsCheck } from '../../core/log/request-log.ts'
import type { HeaderList } from '../../core/request/headers.ts'
import { shellWord } from '../../core/shell-word.ts'
import { truncated } from '../../core/words.ts'
import { isOrigin } from '../origins.ts'
import { originOfRequest } from '../selection.ts'
import { CORS_METHODS, isPreflight, type OriginDecision } from './guard.ts'

/**
 * What the browser does with the response to a request of a web page. Undefined for requests of other clients, for pages that
 * the emulator itself has served, and for documents, images and forms, whose pages do not read the response.
 */
export function corsCheckOf(req: IncomingMessage, decision: OriginDecision): CorsCheck | undefined {
  const { origin } = decision
  const { 'sec-fetch-mode': mode, 'sec-fetch-site': site, 'sec-fetch-dest': destination } = req.headers
  if (origin === undefined && mode !== 'no-cors') return undefined
  if (site === 'same-origin' || origin === originOfRequest(req).origin) return undefined
  if (mode === 'no-cors') {
    const isFetch = destination === 'empty' && site !== 'none'
    return isFetch ? { origin: origin ?? null, isPreflight: false, refusal: NO_CORS } : undefined
  }
  if (origin === undefined || (mode !== undefined && mode !== 'cors')) return undefined
  const asked = req.method === 'OPTIONS' && isPreflight(req.headers)
  const refusal = decision.allowed
    ? asked
      ? refusedMethod(req.headers['access-control-request-method'] ?? '')
      : undefined
    : refusedOrigin(origin, asked)
  return { origin: truncated(origin), isPreflight: asked, refusal }
}

/** Checks the head that was sent, which a fault may have changed. */
export function checkSentHead(cors: CorsCheck, headers: HeaderList): void {
  const values = headers.flatMap(([name, value]) => (name.toLowerCase() === ALLOW_ORIGIN ? [value] : []))
  const isAllowed = values.length === 1 && (values[0] === cors.origin || values[0] === '*')
  if (cors.refusal === undefined && !isAllowed) cors.refusal = CHANGED_HEADER
}

type CorsRefusal = NonNullable<CorsCheck['refusal']>

const ALLOW_ORIGIN = 'access-control-allow-origin'
const NOT_SENT = 'so the browser does not send the request itself.'
const NOT_READ = 'so the browser does not let the page read this response.'

const NO_CORS: CorsRefusal = {
  detail: `The page used fetch with mode: 'no-cors', so the browser leaves out the header Authorization and does not let the page read this response.`,
  mitigation: "Remove mode: 'no-cors' from the page.",
}

const CHANGED_HEADER: CorsRefusal = {
  detail: `A fault has changed the header Access-Control-Allow-Origin, ${NOT_READ}`,
  mitigation: 'Remove the fault rule, or let the response keep exactly one such header.',
}

function refusedOrigin(origin: string, isPreflight: boolean): CorsRefusal {
  const end = isPreflight ? NOT_SENT : NOT_READ
  if (origin === 'null') {
    return {
      detail: `Pages of the origin null (files, sandboxed frames, about:blank) may not use the API, ${end}`,
      mitigation:
        'Open the page at http://localhost instead, or start the emulator with --cors-origin null (corsOrigins in JavaScript), which allows all such pages.',
    }
  }
  const allowed = isOrigin(origin) ? origin : '*'
  return {
    detail: `Pages of ${truncated(origin)} may not use the API, ${end}`,
    mitigation: `Start the emulator with --cors-origin ${shellWord(allowed)} (corsOrigins in JavaScript).`,
  }
}

// Browsers compare methods exactly, but write only some of them in capital letters.
function refusedMethod(method: string): CorsRefusal | undefined {
  const methods = CORS_METHODS.split(', ')
  if (methods.includes(method)) return undefined
  const capital = method.toUpperCase()
  return {
    detail: `The API has no method ${truncated(method)}, ${NOT_SENT}`,
    mitigation: methods.includes(capital)
      ? `Write the method in capital letters: ${capital}.`
      : `The API has only the methods ${CORS_METHODS}.`,
  }
}
