import { resolve } from 'node:path'
import { isScenarioFile, readFolder } from '../adapters/scenarios/folder.ts'
import { problemLine } from '../adapters/scenarios/problem.ts'
import { didYouMean } from '../core/did-you-mean.ts'
import { Refusal } from '../core/errors.ts'
import type { AnyOperation } from '../core/operation.ts'
import type { ScriptProblem } from '../core/scenarios/source.ts'
import { endpointOf } from '../core/scenarios/stub.ts'
import type { Service } from '../core/service.ts'
import type { Definition } from './definition.ts'

/** In no name: a rule with a glob would never apply. */
const GLOB = /[*?{}[\]]/

/** The endpoints of the user of one emulator, and the service with them. */
export class EndpointBook {
  /** Without the endpoints. */
  readonly builtIn: Service
  /** With them: its operations are replaced when the files change. */
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
  /** Loads changed files at once. */
  refresh: () => Promise<void> = async () => {}
  close: () => Promise<void> = async () => {}
  /** The digests of its files, for a recording; none while files have problems, or were given as definitions. */
  digests: () => Promise<Readonly<Record<string, string>>> = async () => ({})
  /** Called when the definitions have been replaced. */
  onReplaced: () => void = () => {}

  constructor(builtIn: Service) {
    this.builtIn = builtIn
    const contracted = [...builtIn.operations.values()].flatMap((each) => (each.contract ? [each.name] : []))
    const mayName = (name: string) =>
      this.definitions.length > 0 && !GLOB.test(name) && didYouMean(name, contracted) === ''
    this.service = { ...builtIn, mayName }
  }

  /** Why paths without a route have none, if files that were never valid may be the reason. */
  unrouted(): Refusal | undefined {
    const [problem] = this.problems
    if (problem === undefined || !this.isIncomplete) return undefined
    const files = new Set(this.problems.map(({ file }) => file)).size
    const one = files === 1
    const broken = one ? 'a file of endpoints is broken' : `${files} files of endpoints are broken; first`
    const others = one ? '' : ' "workspace-emulator endpoints" lists the problems of all files.'
    return new Refusal('emulator_contract_unspecified', {
      detail: `There is no such operation, but ${broken}: ${problemLine(problem)}`,
      mitigation: `Correct the file; it is loaded again when it is saved.${others}`,
    })
  }

  // A broken file may be the reason for an operation that is only named, too.
  readonly #orBroken = (operation: AnyOperation): AnyOperation => {
    const reason = operation.isUnanswered && this.unrouted()
    if (!reason) return operation
    return {
      ...operation,
      handle: () => {
        throw reason
      },
    }
  }

  /** Replaces all definitions. @param own their operations */
  replace(definitions: readonly Definition[], own: readonly AnyOperation[]): void {
    const places = new Set(own.map((each) => endpointOf(each)))
    const others = [...this.builtIn.operations.values()].filter((each) => !places.has(endpointOf(each)))
    this.definitions = definitions
    this.generation += 1
    // A map of its own for each generation, so that what is derived from one is never used for another.
    const operations = new Map([...others.map(this.#orBroken), ...own].map((each) => [each.name, each]))
    Object.assign(this.service, { operations })
    this.onReplaced()
  }
}

/** The place of a definition that is in no file. */
export const GIVEN = '(given)'

/** The files of definitions in a folder; none if it is missing. */
export async function endpointFiles(folder: string): Promise<readonly string[]> {
  return (await readFolder(resolve(folder), [], isEndpointFile)).files
}

/** Whether the name of a file is that of definitions. Files that start with `_` and files in subfolders are helpers. */
export function isEndpointFile(path: string): boolean {
  return isScenarioFile(path.replace(/\.ya?ml$/, '.json'))
}
