/** The messages of one conversation, for several scenarios. Files that begin with an underscore are not scenarios. */
export const messages = [
  {
    object: 'message',
    id: '0b9c8f6e-5f0b-4c57-9d5f-1c1d5d2c7a01',
    role: 'user',
    content: 'When is the pier inspected?',
  },
  {
    object: 'message',
    id: '0b9c8f6e-5f0b-4c57-9d5f-1c1d5d2c7a02',
    role: 'agent',
    content: 'The pier is inspected in March.',
  },
] as const
