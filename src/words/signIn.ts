import type { Words } from './words.ts'

/** The words of the sign-in by a provider, and of the second factor. */
export const signInWords = {
  code: ['Code, if your account has a second factor', 'Msimbo, ikiwa akaunti yako ina hatua ya pili'],
  signInByProvider: ['Sign in by the provider of your organization', 'Ingia kupitia mtoa huduma wa shirika lako'],
  organizationNumber: ['Number of your organization', 'Namba ya shirika lako'],
  goOn: ['Go on', 'Endelea'],
  secondFactor: ['Second factor', 'Hatua ya pili ya kuingia'],
  factorIsOn: [
    'Your account asks for a code of your app at each sign-in. Who manages the organization can reset it.',
    'Akaunti yako inaomba msimbo wa programu yako kila unapoingia. Anayesimamia shirika anaweza kuuondoa.',
  ],
  factorOfProvider: [
    'You sign in by the provider of your organization, which may ask for a second factor itself.',
    'Unaingia kupitia mtoa huduma wa shirika lako, ambaye anaweza kuomba hatua ya pili mwenyewe.',
  ],
  factorRequired: [
    'Your organization asks for a second factor. Set it up to go on.',
    'Shirika lako linahitaji hatua ya pili ya kuingia. Iweke ili uendelee.',
  ],
  factorMeans: [
    'An app on your phone shows a code that changes each half minute. Let it read the picture, or type the secret, and then type its code.',
    'Programu kwenye simu yako huonyesha msimbo unaobadilika kila nusu dakika. Iache isome picha, au andika siri, kisha andika msimbo wake.',
  ],
  factorBegin: ['Show a secret', 'Onyesha siri'],
  factorSecret: ['Secret', 'Siri'],
  factorCode: ['Code of the app', 'Msimbo wa programu'],
  factorProve: ['Turn on', 'Washa'],
  factorDone: ['Your second factor is on', 'Hatua ya pili imewashwa'],
  recoveryMeans: [
    'Keep these codes where only you find them. Each signs you in once when the phone is not there. They are shown only now.',
    'Tunza misimbo hii mahali unapoijua wewe tu. Kila mmoja hukuingiza mara moja simu isipokuwepo. Inaonyeshwa sasa tu.',
  ],
} as const satisfies Words
