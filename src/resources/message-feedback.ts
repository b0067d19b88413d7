import * as z from 'zod'
import { setting } from '../kernel/assumptions.ts'
import { refuse } from '../kernel/errors.ts'
import { nonEmptyText } from '../kernel/fields.ts'
import { type Finder, operation } from '../kernel/operation.ts'
import {
  type Conversation,
  conversations,
  type Message,
  mayConverse,
  messages,
  UUID,
} from './conversation-records.ts'
import { oneOfNames } from './names.ts'

export const uiSurfaces = setting<readonly string[]>({
  key: 'names.ui_surfaces',
  item: 'U009',
  says: 'The surfaces that feedback may name as ui_surface.',
  schema: () => z.array(nonEmptyText()).min(1),
  default: ['service_web', 'construction_platform_embed', 'field_app_mobile'],
})

export const giveFeedback = operation({
  name: 'messages.feedback',
  method: 'POST',
  path: '/conversations/{conversation_id}/messages/{message_id}',
  summary: 'Like or dislike a message of an agent',
  section: 'Message feedback',
  dialect: 'standard',
  contract: true,
  success: 204,
  input: ({ object }, settings) => ({
    body: object({
      like: z.literal([1, -1], { error: 'must be 1 or -1' }),
      feedback: z.string().nullable().optional(),
      ui_surface: oneOfNames(settings.get(uiSurfaces), uiSurfaces).nullable().optional(),
    }),
  }),
  find: ratedMessage,
  handle: ({ tx, body, target, caller, at, note }) => {
    const { message, conversation } = target
    if (typeof body.ui_surface === 'string') note(uiSurfaces.item)
    const entry = {
      like: body.like,
      feedback: body.feedback ?? null,
      ui_surface: body.ui_surface ?? null,
      at,
      user_id: caller.user_id,
      donated: conversation._emulator.share_data_consent,
    }
    const { _emulator } = message
    tx.in(messages).put({ ...message, _emulator: { ..._emulator, feedback: [..._emulator.feedback, entry] } })
    return {}
  },
})

const MESSAGE_ID = new RegExp(`^(${UUID})(?:-(user|agent))?$`)

// The order tells nobody anything: first what is wrong with the id itself, then whether the caller sees the message,
// and only then what kind of message it is (T34).
function ratedMessage({ tx, caller, params }: Finder): { message: Message; conversation: Conversation } {
  const { conversation_id = '', message_id = '' } = params
  const [, uuid, suffix] = MESSAGE_ID.exec(lowerHex(message_id)) ?? []
  if (uuid === undefined) {
    refuse('malformed_message_id', {
      detail: `"${message_id}" is not a message id.`,
      mitigation: 'Give a UUID, alone or followed by -user or -agent.',
    })
  }
  const conversation = tx.in(conversations).get(conversation_id)
  const message = tx.in(messages).get(uuid)
  if (
    conversation === undefined ||
    !mayConverse(caller, conversation) ||
    message?._emulator.conversation_id !== conversation_id
  ) {
    return refuse('not_found', {
      detail: `There is no message "${message_id}" in a conversation "${conversation_id}".`,
      status: 404,
    })
  }
  if (suffix === 'user' || !['agent', 'voice'].includes(message._emulator.kind)) {
    refuse('not_an_agent_message', {
      detail: `The message "${message_id}" is neither of an agent nor of a voice call, so it takes no feedback.`,
    })
  }
  return { message, conversation }
}

// Hexadecimal digits are the same in either case, the suffix is not: only the first 36 characters are folded.
function lowerHex(id: string): string {
  return id.slice(0, 36).toLowerCase() + id.slice(36)
}
