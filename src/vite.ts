import { networkInterfaces } from 'node:os'
import { styleText } from 'node:util'
import type { Plugin, PreviewServer, ResolvedConfig, UserConfig, ViteDevServer } from 'vite'
import { type Emulator, EmulatorError, type EmulatorOptions, startEmulator } from './index.ts'
import type { MountedHandler } from './server/handlers.ts'
import { isLoopback } from './server/origins.ts'

/** The options of `startEmulator`. By default `port` is 0, a free one, and notices go to Vite's logger. */
export type ViteEmulatorOptions = Omit<EmulatorOptions, 'listen'>

/** The emulator of a project. It outlives a Vite server that is restarted: the next one begins before the last one is closed. */
interface Shared {
  emulator: Emulator
  router: MountedHandler
  /** Empty if the state has no key that is known in plain text. */
  keys: { readonly VITE_WORKSPACE_API_KEY?: string }
  /** What it was started with. */
  given: Given
  /** The configurations of the servers that use it. */
  readonly users: Set<ResolvedConfig>
}

interface Given {
  readonly options: EmulatorOptions
  /** Equal for servers that can share an emulator. */
  readonly key: string
}

/** By the root of the project. */
const projects = new Map<string, Shared>()

/**
 * The emulator inside Vite's dev and preview server: `/v1`, `/__emulator`, `/consent/` and the same below `/@name`, at the origin of
 * the page. Sets `import.meta.env.VITE_WORKSPACE_BASE_URL` and `VITE_WORKSPACE_API_KEY` in the dev server. A build and Vitest are
 * left alone. Vite does not start when an option is invalid, or other machines can reach it and `controlToken` is missing.
 * @example
 * export default defineConfig({ plugins: [workspaceEmulator({ fixtures: 'demo' })] })
 */
export default function workspaceEmulator(options: ViteEmulatorOptions = {}): Plugin {
  let shared: Shared | undefined
  return {
    name: 'agent-workspace-emulator',
    apply: (config, { command }) => command === 'serve' && !isOfVitest(config),
    async configureServer(server) {
      shared = await join(server.config, startWith(server.config, server.config.server, options))
      Object.assign(server.config.env, variables(shared, baseUrlOfPages(server.config.server, shared)))
      serve(server, server.config.server, shared)
    },
    async configurePreviewServer(server) {
      const joined = await join(server.config, startWith(server.config, server.config.preview, options))
      serve(server, server.config.preview, joined)
      const { close } = server
      server.close = async () => {
        await close()
        await leave(joined, server.config)
      }
    },
    // A page finds the emulator at its own origin; code for the server has none.
    transform(code) {
      if (shared === undefined || this.environment.config.consumer === 'client') return null
      if (!code.includes('import.meta.env')) return null
      const values = JSON.stringify(variables(shared, shared.emulator.baseUrl))
      return { code: `Object.assign(import.meta.env, ${values});${code}`, map: null }
    },
    // Called for each environment of a dev server that is closed.
    async closeBundle() {
      if (shared !== undefined) await leave(shared, this.environment.getTopLevelConfig())
    },
  }
}

/** Tests in Vitest have emulators of their own, and may run while the dev server uses the data folder. */
function isOfVitest({ plugins = [] }: UserConfig): boolean {
  const all = (plugins as readonly unknown[]).flat(Number.POSITIVE_INFINITY) as (Plugin | null | false)[]
  return all.some((plugin) => plugin && /^vitest\b/.test(plugin.name))
}

type ServerOptions = ResolvedConfig['server'] | ResolvedConfig['preview']

/** Servers of a project that start or close at the same time do so in turn, so that they share one emulator. */
let last: Promise<unknown> = Promise.resolve()

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const next = last.then(work)
  last = next.catch(() => {})
  return next
}

const join = (config: ResolvedConfig, given: Given): Promise<Shared> =>
  inTurn(async () => {
    const shared = projects.get(config.root)
    if (shared !== undefined) {
      const isSame =
        shared.given.key === given.key && shared.given.options.endpoints === given.options.endpoints
      if (!isSame) await replace(shared, given)
      shared.users.add(config)
      return shared
    }
    const made: Shared = { ...(await start(given)), users: new Set([config]) }
    projects.set(config.root, made)
    return made
  })

const leave = (shared: Shared, config: ResolvedConfig): Promise<void> =>
  inTurn(async () => {
    if (!shared.users.delete(config) || shared.users.size > 0) return
    projects.delete(config.root)
    await shared.emulator.close()
  })

/** Starts it again with other options; with the former ones when that fails, so that the server that still runs keeps it. */
async function replace(shared: Shared, given: Given): Promise<void> {
  // Code for the server has the URL of the port, so it stays.
  const { port } = shared.emulator
  // First, because only one emulator may use the data folder.
  await shared.emulator.close()
  try {
    Object.assign(shared, await start(given, given.options.port || port))
  } catch (error) {
    Object.assign(shared, await start(shared.given, port))
    throw error
  }
}

async function start(given: Given, port = given.options.port): Promise<Omit<Shared, 'users'>> {
  const emulator = await startEmulator({ ...given.options, port })
  return { emulator, router: emulator.router(), keys: keysOf(emulator, given.options), given }
}

function keysOf({ defaultSandbox }: Emulator, { logger }: EmulatorOptions): Shared['keys'] {
  try {
    return { VITE_WORKSPACE_API_KEY: defaultSandbox.apiKey }
  } catch (error) {
    if (!(error instanceof EmulatorError)) throw error
    logger?.warn(
      `VITE_WORKSPACE_API_KEY is not set. ${error.detail} Set it in .env.local, or remove the data folder to begin with the fixtures again.`,
    )
    return {}
  }
}

/** The options of the emulator: it accepts the hosts of the Vite server, and logs as Vite does. */
function startWith({ logger }: ResolvedConfig, server: ServerOptions, options: ViteEmulatorOptions): Given {
  const { host, allowedHosts } = server
  const bound = host === true ? '0.0.0.0' : host || 'localhost'
  if (!isLoopback(bound) && options.controlToken === undefined) refuseOpenControl(bound)
  const named = Array.isArray(allowedHosts) ? allowedHosts.filter((name) => !name.startsWith('.')) : []
  const allowHosts = [options.allowHosts ?? [], isLoopback(bound) ? [] : hostsOf(bound), named].flat()
  const stamped = { timestamp: true }
  return {
    // Definitions have functions, so they are compared by reference.
    key: JSON.stringify([{ ...options, endpoints: undefined }, host, named]),
    options: {
      port: 0,
      logger: {
        info: (message) => logger.info(message, stamped),
        warn: (message) => logger.warn(message, stamped),
        error: (message) => logger.error(message, stamped),
      },
      ...options,
      allowHosts,
    },
  }
}

function refuseOpenControl(host: string): never {
  throw new EmulatorError({
    status: 0,
    code: 'validation_failed',
    detail: `The control interface would be open to other machines, because Vite listens on ${host} and there is no control token.`,
    mitigation: 'Give one, workspaceEmulator({ controlToken: ... }), or start Vite without --host.',
    asked: 'workspaceEmulator()',
  })
}

/** The hosts under which other machines reach a server that listens on `bound`. */
function hostsOf(bound: string): string[] {
  if (bound !== '0.0.0.0' && bound !== '::') return [bound]
  return Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address))
}

const variables = ({ keys }: Shared, baseUrl: string) => ({ VITE_WORKSPACE_BASE_URL: baseUrl, ...keys })

// With `https` Vite speaks HTTP/2, which Express cannot: pages use the emulator's own port, as browsers allow for loopback.
const baseUrlOfPages = ({ https }: ServerOptions, { emulator }: Shared) => (https ? emulator.baseUrl : '/v1')

/** Vite's own paths begin with `/@`, too: of those with a name, only the paths of the emulator are served. */
const OWN = /^\/(?:@(?!(?:vite|fs|id)\/)[^/?]+\/)?(?:(?:v1|__emulator)(?![^/?])|consent\/)/

/** Serves the emulator before Vite's own files, after its checks of the host, and adds its addresses to Vite's. */
function serve(server: ViteDevServer | PreviewServer, { https }: ServerOptions, shared: Shared): void {
  if (!https) {
    server.middlewares.use((req, res, next) => {
      const { method, url = '' } = req
      if (!OWN.test(url)) return next()
      // The page may not show why, and the browser only the status.
      res.once('close', () => {
        const id = res.getHeader('x-emulator-request-id')
        if (id === undefined || res.statusCode < 400) return
        const why = `npx agent-workspace-emulator explain ${id} --url ${shared.emulator.url}`
        server.config.logger.warn(`${method} ${url}: ${res.statusCode}. Why: ${why}`, { timestamp: true })
      })
      shared.router(req, res, next)
    })
  }
  const { printUrls } = server
  server.printUrls = () => {
    printUrls()
    const { local = [], network = [] } = server.resolvedUrls ?? {}
    const [page = shared.emulator.url] = https ? [] : [...local, ...network]
    const { origin } = new URL(page)
    const arrow = styleText('green', '➜')
    for (const [name, path] of [
      ['Workspace API', '/v1'],
      ['Workspace dashboard', '/__emulator/ui/'],
    ] as const)
      server.config.logger.info(`  ${arrow}  ${styleText('bold', name)}: ${styleText('cyan', origin + path)}`)
  }
}
