import type { Scope } from './operation.ts'

/** The texts of a consent page. */
export interface ConsentQuestion {
  /** One sentence that ends in a question mark. */
  readonly title: string
  /** The origin of the request for consent, in one sentence. */
  readonly asker: string
  /** The permissions that are granted, each in a few words. */
  readonly grants: readonly string[]
  /** Names and values of further facts for the reader. */
  readonly facts: readonly (readonly [name: string, value: string])[]
  /** An absolute http or https URL to which the browser returns; null: the page shows that the decision was made. */
  readonly returnsTo: string | null
}

/** The parts of a request for a consent page. */
export interface ConsentCall {
  /** The last segment of the path: names one flow, and works until it is decided. */
  readonly nonce: string
  readonly query: URLSearchParams
}

/**
 * A page at `/consent/{name}/{nonce}`, outside the control interface, on which a person allows or denies something. It
 * replaces the page of a provider, which is not part of the specification.
 */
export interface Consent {
  readonly name: string
  /** Outcomes in addition to `allow` and `deny`, for tests of error paths: each a word, and a description of its effect. */
  readonly errors: Readonly<Record<string, string>>
  /** Refuses with `not_found` when no flow has the nonce, and with `conflict` when it is decided. Changes nothing. */
  readonly ask: (scope: Scope, call: ConsentCall) => ConsentQuestion
  /**
   * Decides the flow, once. Refuses as `ask` does.
   * @param outcome `allow`, `deny`, or one of `errors`
   * @returns the URL to which the browser returns, or null
   */
  readonly decide: (scope: Scope, call: ConsentCall, outcome: string) => string | null
}

/** The URL of a consent page. @param controlUrl the control interface of the sandbox, as an absolute URL */
export function consentUrl(controlUrl: string, name: string, nonce: string): string {
  return `${controlUrl.slice(0, controlUrl.lastIndexOf('/'))}/consent/${name}/${nonce}`
}

/** A URL with additional query parameters, which replace existing ones of the same name. */
export function withQuery(url: string, members: Readonly<Record<string, string>>): string {
  const whole = new URL(url)
  for (const [name, value] of Object.entries(members)) whole.searchParams.set(name, value)
  return whole.href
}
