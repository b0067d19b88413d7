import { problemLine } from '../adapters/scenarios/problem.ts'
import { didYouMean } from '../core/did-you-mean.ts'
import { type ErrorFormat, Refusal } from '../core/errors.ts'
import type { AnyOperation } from '../core/operation.ts'
import type { ScriptProblem } from '../core/scenarios/source.ts'
import { endpointOf } from '../core/scenarios/stub.ts'
import type { Service } from '../core/service.ts'
import type { Definition } from './check.ts'
import { operationsOf } from './operation.ts'

/** In no name: a rule with a glob would never apply. */
const GLOB = /[*?{}[\]]/

/** The endpoints of the user of one emulator, and the service with them: its operations change when the files do. */
export class EndpointBook {
  readonly service: Service
  /** In the order of their files. */
  definitions: readonly Definition[] = []
  /** What is wrong with the present files, and what breaks a replay. */
  problems: readonly ScriptProblem[] = []
  warnings: readonly ScriptProblem[] = []
  /** Whether a file was broken at the first load, and has not been valid since. */
  isIncomplete = false
  /** How often the definitions have been replaced. */
  generation = 0
  /** Without the endpoints. */
  readonly builtIn: Service
  #operations: Map<string, AnyOperation>
  readonly #listeners = new Set<() => void>()

  constructor(builtIn: Service) {
    this.builtIn = builtIn
    this.#operations = new Map(builtIn.operations)
    const contracted = [...builtIn.operations.values()].flatMap((each) => (each.contract ? [each.name] : []))
    const mayName = (name: string) =>
      this.definitions.length > 0 && !GLOB.test(name) && didYouMean(name, contracted) === ''
    this.service = { ...builtIn, operations: this.#operations, mayName }
  }

  /** The name of the operation of a definition. */
  nameOf(definition: Definition): string {
    const { method, path } = definition
    const place = endpointOf({ method, path })
    return [...this.#operations.values()].find((each) => endpointOf(each) === place)?.name ?? ''
  }

  /** Why paths without a route have none, if files that were never valid may be the reason. */
  unrouted(): Refusal | undefined {
    const [problem] = this.problems
    if (problem === undefined || !this.isIncomplete) return undefined
    return new Refusal('emulator_contract_unspecified', {
      detail: `There is no such operation, but a file of endpoints is broken: ${problemLine(problem)}`,
      mitigation: 'Correct the file; it is loaded again when it is saved.',
    })
  }

  /** Calls the listener when the operations have changed. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** Replaces all definitions. */
  replace(definitions: readonly Definition[]): void {
    const own = operationsOf(definitions, this.builtIn, (path) => this.#errorFormatOf(path))
    const places = new Set(own.map(endpointOf))
    this.definitions = definitions
    this.generation += 1
    const others = [...this.builtIn.operations.values()].filter((each) => !places.has(endpointOf(each)))
    // A map of its own for each generation: a recording compares them.
    this.#operations = new Map([...others, ...own].map((each) => [each.name, each]))
    Object.assign(this.service, { operations: this.#operations })
    for (const listener of this.#listeners) listener()
  }

  // That of the built-in operations with the same first segment.
  #errorFormatOf(path: string): ErrorFormat {
    const first = path.split('/')[1]
    const related = [...this.builtIn.operations.values()].find((each) => each.path.split('/')[1] === first)
    return related?.errorFormat ?? 'standard'
  }
}
