import { didYouMean } from './did-you-mean.ts'
import { refuse } from './errors.ts'

/** Refuses a name that no object of a kind has, and suggests the most similar one. @param fix where to find the names */
export function refuseUnknown(kind: string, name: string, known: Iterable<string>, fix: string): never {
  const detail = `There is no ${kind} "${name}".${didYouMean(name, [...known])}`
  return refuse('not_found', { detail, mitigation: fix })
}
