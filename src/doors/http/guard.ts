/** Every value that a `Host` header may have here; made by {@link allowHosts}. */
export type AllowedHosts = ReadonlySet<string>

/** The verdict on a `Host` header. The detail of a refusal names the way out. */
export type HostVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly status: 400 | 403; readonly detail: string }

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']
const HOST = /^(?:\[[0-9a-z:.%_-]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?$/
const LOOPBACK_ORIGIN =
  /^https?:\/\/(?:localhost|(?:[a-z0-9_-]+\.)+localhost|127\.0\.0\.1|\[::1\])(?::([1-9][0-9]{0,4}))?$/

/** Where a server listens, and by which further names it is reached. IPv6 addresses may lack their brackets. */
export interface Addressing {
  /** The port that is listened on, as bound: never 0. */
  readonly port: number
  /** The host that is listened on. */
  readonly bound: string
  /** `--allow-host` entries: `name` stands for `name` and `name:<port>`, `name:1234` for itself only. */
  readonly hosts: readonly string[]
}

/**
 * The hosts under which this server may be addressed: the loopback names, the bound one, and those allowed.
 * @throws RangeError for a host that no `Host` header can equal, such as a URL
 */
export function allowHosts({ port, bound, hosts }: Addressing): AllowedHosts {
  const own = [...LOOPBACK, normalized(bound)]
  const allowed = new Set(own.map((name) => `${name}:${port}`))
  // Clients leave the default port of http out.
  if (port === 80) for (const name of own) allowed.add(name)
  for (const entry of hosts.map(normalized)) {
    allowed.add(entry)
    if (!/:[0-9]+$/.test(entry)) allowed.add(`${entry}:${port}`)
  }
  return allowed
}

/**
 * Protects against DNS rebinding: a web page of anyone can point its own name at 127.0.0.1, but its requests then
 * carry that name. The raw text is compared, never parsed as a URL, since parsers turn odd spellings into loopback.
 * @param values all values of the `Host` header, see headerValues()
 */
export function checkHost(values: readonly string[], allowed: AllowedHosts): HostVerdict {
  const [value, ...others] = values
  if (value === undefined || value === '')
    return refused(400, 'The request has no Host header. Send exactly one.')
  if (others.length > 0) {
    return refused(400, `The request has ${values.length} Host headers. Send exactly one.`)
  }
  const host = value.toLowerCase()
  if (allowed.has(host)) return { ok: true }
  if (!HOST.test(host)) {
    return refused(400, 'The Host header is malformed. Send a host name or address, with a port if needed.')
  }
  const known = [...allowed].join(', ')
  const name = host.slice(0, 100)
  return refused(
    403,
    `This server is not addressed as \`${name}\`, only as ${known}. Start it with --allow-host ${name} to accept it.`,
  )
}

/**
 * Whether a page of this origin may read the API's answers: pages of this machine (`http` or `https`; `localhost`
 * and its subdomains, 127.0.0.1, [::1]; any port) and those in `extra`. No origin is nothing to allow.
 * @param extra exact origins; `*` allows every origin but the opaque one, which only `null` allows
 */
export function originAllowed(origin: string | undefined, { extra }: { extra: readonly string[] }): boolean {
  if (origin === undefined || origin === '') return false
  if (extra.includes(origin)) return true
  if (origin === 'null') return false
  if (extra.includes('*')) return true
  const match = LOOPBACK_ORIGIN.exec(origin)
  return match !== null && Number(match[1] ?? 0) <= 65535
}

/**
 * Whether a request for the control API comes from a page that this server did not serve: any `Origin` but
 * `http://` and one of our own hosts, the opaque origin `null` included. Clients that are no browsers send none.
 */
export function isCrossSiteOrigin(origin: string | undefined, allowed: AllowedHosts): boolean {
  if (origin === undefined) return false
  return !origin.startsWith('http://') || !allowed.has(origin.slice('http://'.length))
}

function refused(status: 400 | 403, detail: string): HostVerdict {
  return { ok: false, status, detail }
}

function notAHost(entry: string): string {
  return `\`${entry}\` is not a host. Give a name or an address, with a port if needed, such as \`api:8080\`.`
}

function normalized(entry: string): string {
  const host = entry.trim().toLowerCase()
  const isBareIpv6 = !host.startsWith('[') && host.split(':').length > 2
  const entryHost = isBareIpv6 ? `[${host}]` : host
  if (!HOST.test(entryHost)) throw new RangeError(notAHost(entry))
  return entryHost
}
