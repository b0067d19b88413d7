// No imports here: the client uses this file too, and a browser would load all imported files.

/** The sandbox of requests that select none. */
export const DEFAULT_SANDBOX = 'default'

/** The pattern of names of sandboxes and snapshots. */
export const NAME_PATTERN = /^[a-z0-9][a-z0-9-]{0,62}$/

/** The rule for names in words. */
export const NAME_RULE = '1 to 63 lower-case letters, digits and hyphens, not beginning with a hyphen'

/** The address of an emulator that is started without options, for a sandbox without a server. */
const DEFAULT_ORIGIN = 'http://127.0.0.1:4010'

/**
 * The control interface of a sandbox as an absolute URL, without a slash at its end.
 * @param prefix the part of the path before `/v1` in the request that shows it
 */
export function controlUrlOf(sandbox: string, origin = DEFAULT_ORIGIN, prefix = ''): string {
  return `${origin}${sandbox === DEFAULT_SANDBOX ? prefix : `${mountIn(prefix)}/@${sandbox}`}/__emulator`
}

/** The path at which a user's server has mounted the emulator. @param prefix the part of the path before `/v1` */
export function mountIn(prefix: string): string {
  return prefix.replace(/\/@[^/]*$/, '')
}
