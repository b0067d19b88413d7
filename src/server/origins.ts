/**
 * Whether a text is the origin of web pages as browsers write it: scheme, host and port, without a path. Applications have schemes
 * of their own, such as `capacitor://localhost`, whose origins `URL` calls opaque. A pattern such as `https://*.example` is none.
 */
export function isOrigin(text: string): boolean {
  if (!URL.canParse(text) || text.includes('*')) return false
  const { origin } = new URL(text)
  return origin === text || (origin === 'null' && OWN_SCHEME.test(text))
}

// Pages of files, and of data in a URL, send the origin `null`.
const OWN_SCHEME = /^(?!file:|data:|about:)[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+(?::[0-9]+)?$/

/** Whether only this machine can reach a server that listens on `host`. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}
