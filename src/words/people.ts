import type { Words } from './words.ts'

// The words of the office pages about who customers are. The Kiswahili has to be reviewed by a native speaker who works with loans.

export const peopleWords = {
  identity: ['Who the customer is', 'Mteja ni nani'],
  identify: ['Say who the customer is', 'Eleza mteja ni nani'],
  titleIdentify: ['Say who customer {id} is', 'Eleza mteja {id} ni nani'],
  meansIdentify: [
    'What is entered takes the place of all that was known. It is kept encrypted, and only an ADMIN reads it.',
    'Yanayoandikwa yanachukua nafasi ya yote yaliyojulikana. Yanahifadhiwa kwa siri, na ADMIN pekee huyasoma.',
  ],
  firstName: ['First name', 'Jina la kwanza'],
  middleName: ['Middle name', 'Jina la kati'],
  lastName: ['Last name', 'Jina la ukoo'],
  dateOfBirth: ['Date of birth', 'Tarehe ya kuzaliwa'],
  gender: ['Gender', 'Jinsia'],
  nationality: ['Nationality (two letters)', 'Uraia (herufi mbili)'],
  idType: ['Document', 'Kitambulisho'],
  idNumber: ['Number of the document', 'Namba ya kitambulisho'],
  verification: ['Check of the identity', 'Uhakiki wa utambulisho'],
  verifiedBy: ['Checked by', 'Umehakikiwa na'],
  verifiedOn: ['Checked on', 'Umehakikiwa tarehe'],
  verificationResult: ['Result of the check', 'Matokeo ya uhakiki'],
  verificationReference: ['Number of the check', 'Namba ya uhakiki'],
  person_unknown: ['–', '–'],
  person_female: ['female', 'mwanamke'],
  person_male: ['male', 'mwanamume'],
  person_national_id: ['national identity card', 'kitambulisho cha taifa'],
  person_passport: ['passport', 'pasipoti'],
  person_alien_id: ['identity card of a foreigner', 'kitambulisho cha mgeni'],
  person_service_id: ['service card', 'kitambulisho cha kazi'],
  person_voter_id: ["voter's card", 'kadi ya mpiga kura'],
  person_driving_licence: ['driving licence', 'leseni ya udereva'],
  person_other: ['other', 'nyingine'],
  person_verified: ['verified', 'umethibitishwa'],
  person_not_verified: ['not verified', 'haujathibitishwa'],
  person_mismatch: ['does not match', 'haulingani'],
} as const satisfies Words
