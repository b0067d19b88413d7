import type { Exchange } from '../../request/exchange.ts'
import type { World } from '../../worlds/world.ts'

/** Carries out what fired `state` actions say about one stage, in a transaction of its own. */
export function moveWorld(
  _world: World,
  _exchange: Exchange,
  _at: 'before-handler' | 'after-handler',
): void {}
