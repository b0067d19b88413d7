import { basename, dirname, extname, resolve } from 'node:path'
import { didYouMean } from '../../kernel/assumptions.ts'
import { isObject, type JsonObject } from '../../kernel/json.ts'
import { isDirectory } from './json-files.ts'

/** What a file can be checked as. A `helper` is checked with the scenarios that import it. */
export type Kind =
  | 'fixtures'
  | 'settings'
  | 'scenario'
  | 'fault rule'
  | 'helper'
  | 'directory without scenarios'

const FIXTURES_MEMBERS = ['extends', 'organization', 'generate', 'collections', 'description', 'stubs']

/** Of a scenario alone. */
const SCENARIO_MEMBERS = ['fixtures', 'clock', 'settings', 'pace', 'outcomes', 'faults', 'timeline', 'on']

/** Of a fault rule alone. */
const RULE_MEMBERS = ['preset', 'match', 'when', 'do', 'actions']

const SCRIPTS = ['.ts', '.js', '.mjs', '.cjs']

/** Whether a path alone tells that scenarios are meant: a script, a directory, or a file in the directory of scenarios. */
export function isScenarioPath(path: string, folder: string): boolean {
  return (
    SCRIPTS.includes(extname(path)) ||
    isDirectory(path) ||
    (path.endsWith('.json') && dirname(resolve(path)) === resolve(folder))
  )
}

/** Whether a script is no scenario by its name: a shell hands them over together. */
export function isHelperPath(path: string): boolean {
  return SCRIPTS.includes(extname(path)) && basename(path).startsWith('_')
}

/**
 * What a document is meant to be. Dots are in the keys of settings alone; a misspelt member of fixtures is still nearer to
 * them than to any setting.
 */
export function kindOf(document: JsonObject): Kind {
  const keys = Object.keys(document)
  if (keys.some((key) => key.includes('.'))) return 'settings'
  if (keys.some((key) => RULE_MEMBERS.includes(key))) return 'fault rule'
  if (keys.some((key) => SCENARIO_MEMBERS.includes(key)) && !('collections' in document)) return 'scenario'
  if (keys.length === 0 || keys.some((key) => isNear(key, FIXTURES_MEMBERS))) return 'fixtures'
  if (keys.some((key) => isNear(key, SCENARIO_MEMBERS))) return 'scenario'
  return Object.values(document).some(isObject) ? 'fixtures' : 'settings'
}

function isNear(key: string, members: readonly string[]): boolean {
  return didYouMean(key, members) !== ''
}
