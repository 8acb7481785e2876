// libcurl's multi interface on the loop: libcurl says which sockets it waits for and when it wants
// to be woken; the loop watches them.
#include "host/os/http_client.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/os/http_client_impl.hpp"

namespace daybook {

bool HttpClient::Impl::open_multi() {
    if (multi != nullptr) {
        return true;
    }
    // Only now: a host without a model on the network does not pay for it.
    is_initialised = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    multi = is_initialised ? curl_multi_init() : nullptr;
    if (multi == nullptr) {
        return false;
    }
    const auto on_socket = [](CURL*, curl_socket_t socket, int what, void* self, void*) noexcept {
        static_cast<Impl*>(self)->watch_socket(socket, what);
        return 0;
    };
    const auto on_timer = [](CURLM*, long milliseconds, void* self) noexcept {
        static_cast<Impl*>(self)->set_timer(milliseconds);
        return 0;
    };
    using SocketFunction = int (*)(CURL*, curl_socket_t, int, void*, void*);
    using TimerFunction = int (*)(CURLM*, long, void*);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, static_cast<SocketFunction>(on_socket));
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, static_cast<TimerFunction>(on_timer));
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 32L);
    return true;
}

void HttpClient::Impl::watch_socket(curl_socket_t socket, int what) {
    if (closed || what == CURL_POLL_REMOVE) {
        sockets.erase(socket);
        return;
    }
    Socket& watched = sockets[socket];
    const bool reads = what == CURL_POLL_IN || what == CURL_POLL_INOUT;
    const bool writes = what == CURL_POLL_OUT || what == CURL_POLL_INOUT;
    if (!reads) {
        watched.read.reset();
    } else if (!watched.read) {
        watched.read = loop.watch(socket, IoLoop::Ready::read, guarded([socket](Impl& self) {
                                      self.act(socket, CURL_CSELECT_IN);
                                  }));
    }
    if (!writes) {
        watched.write.reset();
    } else if (!watched.write) {
        watched.write = loop.watch(socket, IoLoop::Ready::write, guarded([socket](Impl& self) {
                                       self.act(socket, CURL_CSELECT_OUT);
                                   }));
    }
}

void HttpClient::Impl::set_timer(long milliseconds) {
    timer.reset();
    if (!closed && milliseconds >= 0) {
        timer = loop.after(std::chrono::milliseconds(milliseconds),
                           guarded([](Impl& self) { self.act(CURL_SOCKET_TIMEOUT, 0); }));
    }
}

void HttpClient::Impl::act(curl_socket_t socket, int events) {
    int running = 0;
    curl_multi_socket_action(multi, socket, events, &running);
    settle();
}

/// Does what the callbacks decided, and ends what has ended.
void HttpClient::Impl::settle() {
    std::vector<std::pair<std::uint64_t, CURLcode>> done;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
        if (message->msg == CURLMSG_DONE) {
            void* transfer = nullptr;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
            done.emplace_back(static_cast<HttpTransfer*>(transfer)->id, message->data.result);
        }
    }
    for (const auto& [id, code] : done) {
        finish(id, code);
    }
    std::vector<std::uint64_t> redirected;
    for (const auto& [id, transfer] : transfers) {
        if (transfer->redirects) {
            redirected.push_back(id);
        } else if (transfer->receive_paused && transfer->easy) {
            curl_easy_pause(transfer->easy.get(),
                            CURLPAUSE_RECV | (transfer->upload_paused ? CURLPAUSE_SEND : 0));
        }
    }
    for (const std::uint64_t id : redirected) {
        if (auto followed = follow(*transfers.at(id)); !followed) {
            end(id, followed.error());
        }
    }
}

void HttpClient::Impl::finish(std::uint64_t id, CURLcode code) {
    const HttpTransfer& transfer = *transfers.at(id);
    if (!transfer.redirects || transfer.failure) {  // else settle() goes on with it
        end(id, transfer.outcome(code));
    }
}

void HttpClient::Impl::end(std::uint64_t id, std::optional<Error> error) {
    const auto found = transfers.find(id);
    if (found == transfers.end()) {
        return;
    }
    const std::unique_ptr<HttpTransfer> transfer = std::move(found->second);
    transfers.erase(found);
    if (transfer->easy) {
        curl_multi_remove_handle(multi, transfer->easy.get());
    }
    transfer->easy.reset();
    --out;
    transfer->flow->end(std::move(error));
}

Result<> HttpClient::Impl::start_hop(HttpTransfer& transfer) {
    if (auto prepared = transfer.prepare(authorities); !prepared) {
        return prepared;
    }
    return curl_multi_add_handle(multi, transfer.easy.get()) == CURLM_OK
               ? Result<>()
               : Result<>(transfer.error(Errc::full, "no memory for the request"));
}

Result<> HttpClient::Impl::follow(HttpTransfer& transfer) {
    auto redirected = transfer.redirect();
    curl_multi_remove_handle(multi, transfer.easy.get());
    transfer.easy.reset();
    return redirected ? start_hop(transfer) : redirected;
}

void HttpClient::Impl::add(std::unique_ptr<HttpTransfer> transfer) {
    const std::uint64_t id = transfer->id;
    HttpTransfer& added = *transfers.emplace(id, std::move(transfer)).first->second;
    added.begun = added.last_byte = std::chrono::steady_clock::now();
    if (!open_multi()) {
        end(id, added.error(Errc::full, "no memory for HTTP"));
    } else if (added.flow->is_cancelled()) {
        end(id, std::nullopt);
    } else if (auto started = start_hop(added); !started) {
        end(id, started.error());
    } else {
        check_time(id);
    }
}

/// The caller took, gave or cancelled something.
void HttpClient::Impl::look(std::uint64_t id) {
    const auto found = transfers.find(id);
    if (found == transfers.end() || !found->second->easy) {
        return;
    }
    HttpTransfer& transfer = *found->second;
    if (transfer.flow->is_cancelled()) {
        end(id, std::nullopt);
        return;
    }
    transfer.receive_paused = transfer.flow->is_paused();
    transfer.upload_paused = false;
    transfer.last_byte = std::chrono::steady_clock::now();
    curl_easy_pause(transfer.easy.get(), transfer.receive_paused ? CURLPAUSE_RECV : CURLPAUSE_CONT);
    settle();
}

/// Ends the exchange when one of its times is over; else looks again when the next may be.
void HttpClient::Impl::check_time(std::uint64_t id) {
    const auto found = transfers.find(id);
    if (found == transfers.end()) {
        return;
    }
    HttpTransfer& transfer = *found->second;
    const HttpRequest& request = transfer.request;
    const SteadyTime now = std::chrono::steady_clock::now();
    // Who does not read, or sends nothing, is not kept waiting by the server.
    const bool waits_for_caller =
        transfer.receive_paused || (transfer.upload_paused && !transfer.head_whole);
    const SteadyTime first = transfer.begun + request.first_byte;
    const SteadyTime idle =
        waits_for_caller ? now + request.idle : transfer.last_byte + request.idle;
    if (now >= request.deadline) {
        end(id, transfer.error(Errc::deadline, "the time for the request is over"));
    } else if (!transfer.head_whole && !transfer.upload_paused && now >= first) {
        end(id,
            transfer.error(
                Errc::no_answer,
                "no answer within " + std::to_string(request.first_byte.count()) + " ms"));
    } else if (transfer.head_whole && now >= idle) {
        end(id,
            transfer.error(Errc::lost_connection,
                           "it fell silent in the middle of its answer: nothing for " +
                               std::to_string(request.idle.count()) + " ms"));
    } else {
        const SteadyTime next = transfer.head_whole
                                    ? idle
                                    : (transfer.upload_paused ? now + request.first_byte : first);
        const auto wait = std::min(next, request.deadline) - now;
        transfer.timer =
            loop.after(std::max<std::chrono::nanoseconds>(wait, std::chrono::milliseconds(1)),
                       guarded([id](Impl& self) { self.check_time(id); }));
    }
}

void HttpClient::Impl::close() {
    std::map<curl_socket_t, Socket> watched;
    std::vector<std::unique_ptr<Watch>> timers;
    {
        const std::lock_guard guard(mutex);
        closed = true;
        watched.swap(sockets);
        timers.push_back(std::move(timer));
        while (!transfers.empty()) {
            timers.push_back(std::move(transfers.begin()->second->timer));
            end(transfers.begin()->first, Error(Errc::cancelled, "the host stops"));
        }
        if (multi != nullptr) {
            curl_multi_cleanup(multi);
        }
        if (is_initialised) {
            curl_global_cleanup();
        }
        multi = nullptr;
    }
    // Watches wait for a callback that is running, which may have waited for the mutex.
}

}  // namespace daybook
