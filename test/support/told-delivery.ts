import type { DeliverFault } from '../../src/core/faults/deliver.ts'
import type { FaultRule } from '../../src/core/faults/rule.ts'
import type { Delivery } from '../../src/core/webhooks/records.ts'
import { armRule } from './faults.ts'
import { type OutboxEmulator, type OutboxEmulatorOptions, outboxEmulator } from './webhook-sandbox.ts'

/** Arms a rule about every webhook, `r`. */
export function armDeliver(
  { sandbox }: OutboxEmulator,
  deliver: DeliverFault,
  rule: Partial<FaultRule> = {},
): FaultRule {
  return armRule(sandbox, { id: 'r', match: { webhook: '*' }, do: [{ deliver }], ...rule })
}

/** A sandbox with one delivery, under a rule if it is given; `now` is the delivery as it is stored. */
export async function toldDelivery(options: OutboxEmulatorOptions = {}, deliver?: DeliverFault) {
  const emulator = await outboxEmulator(options)
  if (deliver !== undefined) armDeliver(emulator, deliver)
  const [first] = emulator.tell({ n: 1 }) as [Delivery]
  return { emulator, first, id: first.id, now: () => emulator.delivery(first.id) }
}
