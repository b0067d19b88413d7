import { Refusal, refuse } from '../../kernel/errors.ts'
import { reasonOf } from './files.ts'

/** Does something with files for whoever waits for an answer: what the operating system refuses is `storage_unavailable`. */
export async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal) throw error
    return refuse('storage_unavailable', { detail: `${path} could not be written: ${reasonOf(error)}.` })
  }
}
