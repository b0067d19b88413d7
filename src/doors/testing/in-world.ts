import type { World } from '../../index.ts'

/** A text about requests of one world, without the prefix of its paths that only says which world it is. */
export function inWorld({ name }: World, text: string): string {
  return text.replaceAll(`/@${name}/v1`, '/v1')
}
