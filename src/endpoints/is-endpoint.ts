import { resolve } from 'node:path'
import { isScenarioFile, readFolder } from '../adapters/scenarios/folder.ts'

/** Whether the name of a file is that of definitions. Files that start with `_` and files in subfolders are helpers. */
export function isEndpointFile(path: string): boolean {
  return isScenarioFile(path.replace(/\.ya?ml$/, '.json'))
}

/** Whether a folder has files of definitions. */
export async function hasEndpoints(folder: string): Promise<boolean> {
  return (await endpointFiles(folder)).length > 0
}

/** The files of definitions of a folder; none if it is missing. */
export async function endpointFiles(folder: string): Promise<readonly string[]> {
  return (await readFolder(resolve(folder), [], isEndpointFile)).files
}
