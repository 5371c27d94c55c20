import { createHmac, timingSafeEqual } from 'node:crypto';

/** How far the sender's clock may be from ours, in seconds. */
const tolerance = 300;

export interface Signed {
	rawBody: Uint8Array;
	timestamp: string;
	signature: string;
}

/** Why a request is not to be believed; null when it is Carteira's and recent. */
export function refusal({ rawBody, timestamp, signature }: Signed, secret: string, nowMilliseconds: number): string | null {
	if (!secret) return 'this webhook has no secret';
	const mac = createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody).digest('hex');
	const want = Buffer.from(`sha256=${mac}`);
	const got = Buffer.from(signature);
	if (want.length !== got.length || !timingSafeEqual(want, got)) return 'wrong signature';
	const age = Math.abs(nowMilliseconds / 1000 - Number(timestamp));
	return /^\d{1,12}$/.test(timestamp) && age <= tolerance ? null : 'too old, or from the future';
}
