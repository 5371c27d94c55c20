<?php
// A receiver of Carteira's webhooks, for any PHP behind a server with HTTPS. To try it:
//
//   WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:9000 receiver.php
declare(strict_types=1);

// Remembers ids in a file. In earnest: a table with a unique key, written in the
// transaction that does the work.
function isNew(string $id): bool
{
    $file = fopen(getenv('WEBHOOK_SEEN') ?: sys_get_temp_dir() . '/webhook-seen', 'c+');
    flock($file, LOCK_EX);
    $seen = explode("\n", stream_get_contents($file));
    $new = !in_array($id, $seen, true);
    if ($new) {
        fwrite($file, $id . "\n");
    }
    fclose($file);
    return $new;
}

function receive(string $body): int
{
    $secret = getenv('WEBHOOK_SECRET') ?: '';
    if ($secret === '') { // everybody can sign with an empty key
        error_log("set WEBHOOK_SECRET to the webhook's secret");
        return 500;
    }
    $timestamp = $_SERVER['HTTP_X_SERVICE_TIMESTAMP'] ?? '';
    $want = 'sha256=' . hash_hmac('sha256', $timestamp . '.' . $body, $secret);
    if (!hash_equals($want, $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '')) {
        return 401;
    }
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
        return 408;
    }
    $event = json_decode($body, true);
    $id = is_array($event) ? $event['id'] ?? null : null;
    $name = is_array($event) ? $event['event'] ?? null : null;
    if (!is_string($id) || $id === '' || !is_string($name) || $name === '') {
        return 400;
    }
    if (isNew($id)) {
        // Here goes your work; longer work goes into a queue.
        file_put_contents('php://stdout', $name . ' ' . $id . "\n");
    }
    return 204;
}

// The raw bytes: decoded and encoded again they differ.
$body = file_get_contents('php://input', false, null, 0, (1 << 20) + 1);
http_response_code(strlen($body) > 1 << 20 ? 400 : receive($body));
