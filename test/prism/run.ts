import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { CONTRACT } from '../../src/adapters/package.ts'
import { Settings } from '../../src/core/assumptions.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { workspaceDocument } from '../../src/server/control/openapi/workspace.ts'
import type { Exchange } from './record.ts'

// Prism (https://stoplight.io/prism) as a validating proxy between the tests of the specification and the emulator:
//   npm run test:prism                      all of them
//   npm run test:prism -- test/spec/x.test.ts
// The tests run as usual and every response is recorded. Prism's own router and validator then compare each response with the
// document of the emulator under the settings of that moment. A proxy between them could not: it has one document for all tests.

/** Its 143 packages need 66 MB, so they are not among the development dependencies: the first run installs them here. */
const FOLDER = resolve('node_modules/.cache/prism')
const PRISM = '@stoplight/prism-http@5.16.0'

/** Where a response may differ from the document, and why that is right. */
const EXCEPTIONS: readonly (readonly [why: string, covers: (of: Exchange, found: string) => boolean])[] = [
  ['a fault rule of the test changed the response on purpose', ({ faults }) => faults.length > 0],
  ['the response is a stub of the test', ({ isStub }) => isStub],
  [
    'OpenAPI describes GET; HEAD has the same response without a body',
    ({ method, text }) => method === 'HEAD' && text === '',
  ],
  [
    'the request is a CORS preflight, which is no operation of the API',
    ({ method, status, headers }) =>
      method === 'OPTIONS' && status === 204 && 'access-control-allow-methods' in headers,
  ],
  [
    'no operation has the method and the path of the request, so the response is 404 or 405',
    ({ operation, status }, found) => operation === null && found === NO_ROUTE && [404, 405].includes(status),
  ],
  [
    'the path has an empty segment or .. in place of an id, which Prism takes for an id',
    ({ operation, status, path }) =>
      operation === null && status === 404 && /\/(?:\.\.?)?(?:\/|$)/.test(path),
  ],
  [
    'the request has a wrong header X-Emulator-Fault, which is not part of the API',
    ({ status, text }) => status === 400 && text.includes('The header X-Emulator-Fault is not valid.'),
  ],
  [
    'the clock of the emulator has an end, which the API does not know',
    ({ status, text }) => status === 409 && text.includes('the last instant that the clock supports'),
  ],
]

const NO_ROUTE = 'the document has no such path and method'

/** What Prism gives for one exchange. */
interface Verdict {
  readonly _tag: 'Left' | 'Right'
  readonly right: { readonly validations: { readonly input: Finding[]; readonly output: Finding[] } }
}

interface Finding {
  readonly message: string
  readonly path?: readonly string[]
}

interface Prism {
  readonly getHttpOperationsFromSpec: (document: object) => Promise<object[]>
  readonly createInstance: (
    config: object,
    components: object,
  ) => { readonly request: (input: object, operations: object[]) => () => Promise<Verdict> }
}

const { getHttpOperationsFromSpec, createInstance } = installed()
const exchanges = recordedExchanges()
const operations = new Map<string, Promise<object[]>>()
const differences: string[] = []
const excepted = new Map<string, number>()
for (const exchange of exchanges) {
  const found = await compare(exchange)
  if (found === undefined) continue
  const [why] = EXCEPTIONS.find(([, covers]) => covers(exchange, found)) ?? []
  if (why === undefined)
    differences.push(`${exchange.method} ${exchange.path} ${exchange.status}: ${found}\n    ${exchange.test}`)
  else excepted.set(why, (excepted.get(why) ?? 0) + 1)
}
for (const difference of differences) console.log(difference)
console.log(`${exchanges.length} exchanges under ${operations.size} choices of settings`)
console.log(`${differences.length} differences`)
for (const [why, count] of excepted) console.log(`${count} exceptions: ${why}`)
process.exitCode = differences.length === 0 && exchanges.length > 0 ? 0 : 1

function installed(): Prism {
  const root = join(FOLDER, 'package.json')
  if (!existsSync(join(FOLDER, 'node_modules'))) {
    mkdirSync(FOLDER, { recursive: true })
    const args = ['install', '--prefix', FOLDER, '--ignore-scripts', '--no-audit', '--no-fund', PRISM]
    const { status } = spawnSync('npm', args, { stdio: 'inherit' })
    if (status !== 0) throw new Error(`npm could not install ${PRISM} into ${FOLDER}.`)
  }
  return createRequire(root)('@stoplight/prism-http') as Prism
}

function recordedExchanges(): Exchange[] {
  const folder = mkdtempSync(join(tmpdir(), 'exchanges-'))
  try {
    const given = process.argv.slice(2)
    const tests = given.length > 0 ? given : ['test/spec/']
    const args = ['vitest', 'run', '--exclude', '**/*.slow.test.ts', ...tests]
    const env = { ...process.env, TEST_EXCHANGES: folder }
    const { status } = spawnSync('npx', args, { env, stdio: 'inherit' })
    if (status !== 0) console.log('Some tests have failed. Their exchanges are compared, too.')
    return readdirSync(folder).flatMap((file) => {
      const lines = readFileSync(join(folder, file), 'utf8').trimEnd().split('\n')
      return lines.map((line) => JSON.parse(line) as Exchange)
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The difference between a response and the document; undefined if there is none. */
async function compare(exchange: Exchange): Promise<string | undefined> {
  const { method, path, status, headers, text, settings } = exchange
  const { overrides, strict } = settings
  const choice = new Settings(overrides, strict)
  const described = operations.get(choice.text) ?? operationsUnder(choice)
  operations.set(choice.text, described)
  const response = { statusCode: status, headers, body: bodyOf(headers['content-type'], text) }
  const proxy = createInstance(
    { isProxy: true, upstream: new URL('http://127.0.0.1'), validateResponse: true, errors: true },
    { logger: { child: () => ({}) }, forward: () => () => async () => ({ _tag: 'Right', right: response }) },
  )
  const url = { path: path.replace(/^.*?\/v1\//, '/') }
  const verdict = await proxy.request({ method: method.toLowerCase(), url, headers: {} }, await described)()
  if (verdict._tag === 'Left') return NO_ROUTE
  const { output } = verdict.right.validations
  return output.length === 0 ? undefined : output.map(textOf).join('; ')
}

function textOf({ message, path = [] }: Finding): string {
  return `${path.join('.')} ${message}`
}

function operationsUnder(settings: Settings): Promise<object[]> {
  return getHttpOperationsFromSpec(structuredClone(workspaceDocument(workspaceService, settings, CONTRACT)))
}

/** The body as Prism reads it: JSON is parsed, anything else is a text. */
function bodyOf(type = '', text: string): unknown {
  return /^application\/(?:.+\+)?json\b/.test(type) && text !== '' ? JSON.parse(text) : text
}
