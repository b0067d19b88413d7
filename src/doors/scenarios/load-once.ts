import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { readFolder } from './folder.ts'
import { Generation, SCRIPT_LIMITS, type ScriptLimits } from './generation.ts'
import { type Candidate, loadScenarios } from './load-scenario.ts'
import { type ScenarioVocabulary, scenarioSchema } from './schema.ts'

/**
 * Reads the scenarios of a folder, or single files, and gives them up again: what is valid and everything that is wrong, with
 * its place. Scripts are evaluated. @param source a folder, or the files
 */
export async function loadOnce(
  source: string | readonly string[],
  vocabulary: ScenarioVocabulary,
  limits: Partial<ScriptLimits> = {},
): Promise<readonly Candidate[]> {
  const schema = scenarioSchema(vocabulary)
  const candidates: Candidate[] = []
  for (const { folder, files } of await foldersOf(source)) {
    const scripts = new Generation({
      folder,
      limits: { ...SCRIPT_LIMITS, ...limits },
      print: async () => '',
      onLine: () => {},
      onStray: () => {},
    })
    try {
      candidates.push(...(await loadScenarios(files, scripts, schema)))
    } finally {
      await scripts.close()
    }
  }
  return candidates
}

interface Batch {
  readonly folder: string
  readonly files: readonly string[]
}

async function foldersOf(source: string | readonly string[]): Promise<Batch[]> {
  if (typeof source === 'string' && statSync(source, { throwIfNoEntry: false })?.isDirectory()) {
    const folder = resolve(source)
    return [{ folder, files: (await readFolder(folder)).files }]
  }
  const files = typeof source === 'string' ? [source] : source
  const byFolder = new Map<string, Set<string>>()
  for (const file of files.map((each) => resolve(each))) {
    const folder = dirname(file)
    byFolder.set(folder, (byFolder.get(folder) ?? new Set()).add(file))
  }
  return [...byFolder].map(([folder, inIt]) => ({ folder, files: [...inIt] }))
}
