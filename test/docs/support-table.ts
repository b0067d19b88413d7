import { groupBy } from '../../src/core/conduct/observed.ts'
import { fitsGlob } from '../../src/core/log/glob.ts'
import type { AnyOperation } from '../../src/core/operation.ts'
import type { Resource } from '../../src/core/service.ts'
import { Transaction } from '../../src/core/state/transaction.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { startEmulator } from '../../src/index.ts'
import { baseCollections, KEYS, START } from '../support/base-state.ts'
import { type SampleCall, sampleCalls, sampleRecords } from '../support/sample-calls.ts'

/** What the plain call of one operation relied on. */
interface Used {
  readonly operation: AnyOperation
  readonly assumed: readonly string[]
  readonly collections: ReadonlySet<string>
  readonly created: ReadonlySet<string>
}

/**
 * A row for each operation: name, assumptions, presets, collections, and the operations that create records in these. Presets follow
 * from the declarations, the rest from a request to each operation.
 */
export async function operationRows(): Promise<string[][]> {
  const used = await useEachOperation()
  const isForAll = (name: string) => used.every(({ collections }) => collections.has(name))
  return used.map(({ operation, assumed, collections }) => {
    const needed = [...workspaceService.collections.keys()].filter(
      (name) => collections.has(name) && (!isForAll(name) || resourceOf(operation)?.name === name),
    )
    const earlier = used.filter(({ created }) => needed.some((name) => created.has(name)))
    return [[operation.name], presetsOf(operation), needed, earlier.map((each) => each.operation.name)]
      .map((names) => names.map(code).join(', '))
      .toSpliced(1, 0, assumed.join(', '))
  })
}

/** A row for each resource with data: its collections, and the control calls that act on it. */
export function resourceRows(): string[][] {
  return workspaceService.resources
    .filter(({ collections }) => collections.length > 0)
    .map(({ name, collections, controls = [] }) => [
      name,
      collections
        .map((each) => code(each.name) + (each.generate === undefined ? '' : ' (generated)'))
        .join(', '),
      controls
        .filter(({ method }) => method !== 'GET')
        .map(({ method, path }) => code(`${method} ${path}`))
        .join(', '),
    ])
}

/** The presets that are not about one operation, by family. */
export function generalPresets(): string[][] {
  const general = [...workspaceService.presets.values()].filter(
    ({ match }) => match === 'everything' || !('operation' in match || 'path' in match || 'webhook' in match),
  )
  return [...groupBy(general, ({ family }) => family)].map(([family, presets]) => [
    family,
    presets.map(({ name }) => code(name)).join(', '),
  ])
}

function presetsOf({ name, method, path }: AnyOperation): string[] {
  return [...workspaceService.presets.values()]
    .filter(({ match }) => {
      if (match === 'everything') return false
      if (match.operation !== undefined) return match.operation === name
      return match.path !== undefined && match.method === method && fitsGlob(String(match.path), `/v1${path}`)
    })
    .map((preset) => preset.name)
}

function resourceOf(operation: AnyOperation): Resource | undefined {
  return workspaceService.resources.find(({ operations }) => operations.includes(operation))
}

async function useEachOperation(): Promise<Used[]> {
  const collections = Object.fromEntries(
    [...new Set([...Object.keys(baseCollections), ...Object.keys(sampleRecords)])].map((name) => [
      name,
      [...(baseCollections[name] ?? []), ...(sampleRecords[name] ?? [])],
    ]),
  )
  await using emulator = await startEmulator({
    listen: false,
    ephemeral: true,
    clock: START,
    rate: 0,
    fixtures: { collections } as never,
  })
  const send = async ({ method, path, options: { json } }: Omit<SampleCall, 'name'>) => {
    const headers = { authorization: `Bearer ${KEYS.KU}`, 'content-type': 'application/json' }
    const body = json === undefined ? null : JSON.stringify(json)
    const response = await emulator.fetch(`${emulator.baseUrl}${path}`, { method, headers, body })
    return { response, text: await response.text() }
  }
  const post = async (path: string, json?: unknown) => {
    return { body: JSON.parse((await send({ method: 'POST', path, options: { json } })).text) }
  }
  const advance = (by: string) => emulator.defaultSandbox.clock.advance(by)
  const calls = new Map((await sampleCalls({ post, advance })).map((call) => [call.name, call]))
  const results = new Map<AnyOperation, Used>()
  // Every request runs in this thread, so a transaction that is opened during the call belongs to it.
  const opened = Transaction.prototype.in
  for (const operation of inOrderOfEffect([...workspaceService.operations.values()])) {
    const touched = new Set<string>()
    const created = new Set<string>()
    Transaction.prototype.in = function (collection) {
      touched.add(collection.name)
      const records = opened.call(this, collection)
      const insert = records.insert.bind(records)
      records.insert = (row) => {
        created.add(collection.name)
        return insert(row)
      }
      return records as never
    }
    try {
      const { name, method, path } = operation
      const sample = calls.get(name)
      const { response } = await send(
        sample ?? { method, path, options: method === 'GET' ? {} : { json: {} } },
      )
      if (!response.ok && sample !== undefined) throw new Error(`${name} responded with ${response.status}`)
      const assumed = response.headers.get('x-emulator-assumed')?.split(',') ?? []
      results.set(operation, { operation, assumed, collections: touched, created })
    } finally {
      Transaction.prototype.in = opened
    }
  }
  return [...workspaceService.operations.values()].flatMap((operation) => results.get(operation) ?? [])
}

/** Those that delete come last: the records of others are still there. */
function inOrderOfEffect(operations: readonly AnyOperation[]): AnyOperation[] {
  return [...operations].sort((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'))
}

function code(text: string): string {
  return `\`${text}\``
}
