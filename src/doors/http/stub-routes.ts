import type { Dialect } from '../../kernel/errors.ts'
import { type Stub, stubs } from '../../kernel/scenario/stub.ts'
import { stubbed, stubOperation } from '../../kernel/scenario/stub-operation.ts'
import type { Sandbox } from '../../kernel/worlds/sandbox.ts'
import { type Match, RouteTable } from './routes.ts'

type DialectOf = (path: string) => Dialect

/** The routes that the stubs of worlds make. A table is made anew when the stubs of its world have changed. */
export class StubRoutes {
  readonly #dialectOf: DialectOf
  readonly #made = new WeakMap<Sandbox, { readonly version: number; readonly stubs: Stubs }>()

  /** @param dialectOf the form of errors that belongs to a path below the base URL */
  constructor(dialectOf: DialectOf) {
    this.#dialectOf = dialectOf
  }

  /**
   * What a request leads to, a stub where one fits. An operation that has a contract is never answered by one, and under
   * `--strict` nothing is. Of stubs that fit the most literal one answers, and of those the one written last.
   */
  match(sandbox: Sandbox, method: string, path: string, found: Match): Match {
    if (found.kind === 'operation' && found.operation.contract) return found
    const { store, options } = sandbox
    if (options.strict || store.rows(stubs.name).size === 0) return found
    return this.#stubsOf(sandbox).match(method, path, found)
  }

  #stubsOf(sandbox: Sandbox): Stubs {
    const version = sandbox.store.version(stubs.name)
    const kept = this.#made.get(sandbox)
    if (kept?.version === version) return kept.stubs
    const rows = [...(sandbox.store.rows(stubs.name).values() as Iterable<Stub>)].reverse()
    const made = new Stubs(rows, this.#dialectOf)
    this.#made.set(sandbox, { version, stubs: made })
    return made
  }
}

/** The stubs of one world at one moment. */
class Stubs {
  readonly #rows: ReadonlyMap<string, Stub>
  readonly #routes: RouteTable
  /** Operations are kept, because worlds know them by identity. */
  readonly #over = new Map<string, Extract<Match, { kind: 'operation' }>['operation']>()

  constructor(rows: readonly Stub[], dialectOf: DialectOf) {
    this.#rows = new Map(rows.map((row) => [row.id, row]))
    this.#routes = new RouteTable(rows.map((row) => stubOperation(row, dialectOf(row.path))))
  }

  match(method: string, path: string, found: Match): Match {
    const stub = this.#routes.match(method, path)
    if (stub.kind !== 'operation') return found
    if (found.kind !== 'operation') return stub
    const { stub: id = '' } = stub.operation
    const key = `${found.operation.name} ${id}`
    const operation = this.#over.get(key) ?? stubbed(found.operation, this.#rows.get(id) as Stub) // it has matched
    this.#over.set(key, operation)
    return { kind: 'operation', operation, params: { ...found.params, ...stub.params } }
  }
}
