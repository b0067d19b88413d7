import type * as z from 'zod'
import { text } from '../../kernel/fields.ts'

/** Hosts to which a redirect may go without TLS. Specification: Complete MCP OAuth flow. */
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

// Scheme, userinfo, host and port as they were written; the URL parser would already have rewritten them.
const WRITTEN = /^(https?):\/\/([^/?#@]*@)?(\[[^\]/?#@]*\]|[^/?#@:[\]]+)(:\d{1,5})?(?=[/?#]|$)/i

// URL parsers strip or turn these into something else, so that the text and the address it leads to differ.
const REWRITTEN = /[\p{Cc}\s\\]/u

/** What is wrong with a redirect URI. `loopback`: whether it is about which hosts count as loopback (T30). */
export interface RedirectProblem {
  readonly detail: string
  readonly loopback: boolean
}

/**
 * What is wrong with a redirect URI, or undefined: it must be HTTPS, or HTTP to one of three loopback hosts with any port
 * and path. The host is compared as written, because parsing turns `http://2130706433` and `http://127.1` into 127.0.0.1.
 * Specification: Complete MCP OAuth flow.
 */
export function redirectProblem(uri: string): RedirectProblem | undefined {
  const written = REWRITTEN.test(uri) ? null : WRITTEN.exec(uri)
  if (written === null || !URL.canParse(uri)) {
    return { detail: 'must be an absolute https URL, or http to a loopback address', loopback: false }
  }
  const [, scheme = '', userinfo, host = ''] = written
  if (scheme.toLowerCase() === 'https') return undefined
  if (userinfo !== undefined) {
    return { detail: 'must not carry a user name where it is not https', loopback: true }
  }
  if (LOOPBACK.includes(host.toLowerCase())) return undefined
  return {
    detail: `must be https; http is only for ${LOOPBACK.join(', ')}, written so, and the host is "${host}"`,
    loopback: true,
  }
}

/** A redirect URI of at most 2048 characters that {@link redirectProblem} finds nothing wrong with. */
export function redirectUri(): z.ZodType<string> {
  return text(2048)
    .check((context) => {
      const problem = redirectProblem(context.value)
      if (problem === undefined) return
      context.issues.push({ code: 'custom', message: problem.detail, input: context.value })
    })
    .meta({ format: 'uri', maxLength: 2048 })
}
